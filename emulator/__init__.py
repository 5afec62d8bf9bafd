"""The emitted C on cycle-accurate RISC-V cores: engine profiles, Verilated cores, cycle accounting, object-code checks.

report = emulator.run.emulate(Path("firmware"), profile="ibex-small")
timing = emulator.timing.time_function(Path("trees.c"), "trees", rows, emulator.compile.toolchain("ibex-small"))
host = emulator.host.run_on_host(Path("firmware"), compiler="gcc")
"""
