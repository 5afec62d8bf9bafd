"""The compiled instruction-set simulator as type checkers see it. tests/emulator/fast/test_stub.py holds it to this."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

class Timing:
    def __init__(self) -> None: ...
    branch_taken: int
    jump: int
    product: int
    high_product: int
    rotation: int
    access: int
    table_load: int
    data_wait: int
    load_use: int
    split_target: int
    early_jump: bool

class Machine:
    def __init__(
        self,
        *,
        timing: Timing,
        writeback: bool,
        branch_target_alu: bool,
        instruction_wait: int,
        data_wait: int,
        table_wait: int,
        instruction_cache: tuple[int, int, int, int],
        data_cache: tuple[int, int, int, int],
        state: int,
        runner: bytes,
        arguments: int,
        mailbox: int,
    ) -> None: ...

class Program:
    def __init__(
        self,
        *,
        timing: Timing,
        products: bool,
        bits: bool,
        text: int,
        code: bytes,
        entry: int,
        back: int,
        data: tuple[int, int],
        constants: tuple[int, int],
        stack: tuple[int, int],
        blocks: Sequence[tuple[int, int, bool]],
        sections: Sequence[tuple[int, bytes]],
        symbols: Sequence[tuple[int, str]],
        cycle_limit: int,
    ) -> None: ...
    def run(
        self,
        blocks: Sequence[NDArray[numpy.uint8]],
        cycles: NDArray[numpy.uint64],
        returned: NDArray[numpy.uint32],
        threads: int,
        machine: Machine | None,
        portion: int,
    ) -> tuple[int, int, int, str]: ...

class Decider:
    def __init__(self, program: Program, machine: Machine | None) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def context_bytes(self) -> int: ...
