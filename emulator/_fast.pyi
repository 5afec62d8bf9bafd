from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

class Timing:
    def __init__(self) -> None: ...
    @property
    def branch_taken(self) -> int: ...
    @branch_taken.setter
    def branch_taken(self, arg: int, /) -> None: ...
    @property
    def jump(self) -> int: ...
    @jump.setter
    def jump(self, arg: int, /) -> None: ...
    @property
    def product(self) -> int: ...
    @product.setter
    def product(self, arg: int, /) -> None: ...
    @property
    def high_product(self) -> int: ...
    @high_product.setter
    def high_product(self, arg: int, /) -> None: ...
    @property
    def rotation(self) -> int: ...
    @rotation.setter
    def rotation(self, arg: int, /) -> None: ...
    @property
    def access(self) -> int: ...
    @access.setter
    def access(self, arg: int, /) -> None: ...
    @property
    def table_load(self) -> int: ...
    @table_load.setter
    def table_load(self, arg: int, /) -> None: ...
    @property
    def data_wait(self) -> int: ...
    @data_wait.setter
    def data_wait(self, arg: int, /) -> None: ...
    @property
    def load_use(self) -> int: ...
    @load_use.setter
    def load_use(self, arg: int, /) -> None: ...
    @property
    def split_target(self) -> int: ...
    @split_target.setter
    def split_target(self, arg: int, /) -> None: ...
    @property
    def early_jump(self) -> bool: ...
    @early_jump.setter
    def early_jump(self, arg: bool, /) -> None: ...

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
        blocks: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")]],
        cycles: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu")],
        returned: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")],
        threads: int,
        machine: Machine | None,
        portion: int,
    ) -> tuple[int, int, int, str]: ...

class Decider:
    def __init__(self, program: Program, groups: Sequence[int], machine: Machine | None) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def context_bytes(self) -> int: ...
