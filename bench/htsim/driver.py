"""The command of a page of htsim's figures, and the driver that it compiles against htsim's library."""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically

HERE = Path(__file__).parent
A_LINE_AN_ACK = re.compile(r'^\s*cout << "CWND[12] .*$', re.MULTILINE)
"""The statements by which htsim's hpcc.cpp prints each ACK, which takes most of its time."""


def write_page(
    arguments: Sequence[str] | None,
    name: str,
    description: str,
    page: Callable[[Path, Path, int], str],
    out: Path,
    repeats: str,
    default: int,
) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2. ``name``: the module's here; ``page``
    is given htsim's folder, an empty one, and the number of ``repeats``, an option's name."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.htsim.{name}", description=description)
    parser.add_argument("sim", type=Path, help="the folder sim of csg-htsim, after `make`")
    parser.add_argument(
        f"--{repeats}", type=int, choices=range(1, 100), default=default, metavar="N", help=f"runs of each; {default}"
    )
    parser.add_argument("--out", type=Path, default=out, help="the page")
    options = parser.parse_args(arguments)
    try:
        with TemporaryDirectory() as folder:
            write_atomically(options.out, page(options.sim, Path(folder), getattr(options, repeats)).encode())
    except InputError as error:
        print(f"htsim: {error}", file=sys.stderr)
        return 2
    return 0


def compiled(name: str, sim: Path, folder: Path, *, quiet: bool = False) -> Path:
    """Returns the program of ``name``.cpp. ``quiet``: with htsim's HPCC as `silenced` has it. Raises InputError where
    htsim's library is not there or does not take it."""
    library = sim / "libhtsim.a"
    if not library.exists():
        raise InputError(f"{library} is not there; run `make` in {sim}, the folder sim of csg-htsim")
    program, source = folder / name, HERE / f"{name}.cpp"
    sources = [source, silenced(sim / "hpcc.cpp", folder)] if quiet else [source]
    command = ["g++", "-std=c++11", "-O3", "-I", str(sim), "-o", str(program), *map(str, [*sources, library])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"{source.name} does not compile against {sim}: {done.stderr[:500]}")
    return program


def silenced(source: Path, folder: Path) -> Path:
    """Copies htsim's HPCC without the statements that print each ACK. Raises InputError where it has others."""
    text, removed = A_LINE_AN_ACK.subn("", source.read_text(encoding="utf-8"))
    if removed != 2:
        raise InputError(f"{source} prints {removed} lines of an ACK where csg-htsim at 841d9e7 prints 2")
    quiet = folder / source.name
    quiet.write_text(text, encoding="utf-8")
    return quiet
