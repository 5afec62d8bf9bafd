"""The decision in logic: a program printed as pipelined Verilog-2001 (docs/how-to/rtl.md).

program  ->  expand: wires of one operator each  ->  schedule: a stage for every wire  ->  verilog: the module
"""
