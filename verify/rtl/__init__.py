"""The emitted Verilog against its program, by vectors and for all inputs (docs/how-to/rtl.md)."""
