"""Compiles a driver of this folder against htsim's library."""

import re
import subprocess
from pathlib import Path

from decision.artefact.errors import InputError

HERE = Path(__file__).parent
A_LINE_AN_ACK = re.compile(r'^\s*cout << "CWND[12] .*$', re.MULTILINE)
"""What htsim's hpcc.cpp prints of each ACK, which takes most of its time."""


def compiled(name: str, sim: Path, folder: Path) -> Path:
    """Returns the program of ``name``.cpp. Raises InputError where htsim's library is not there or does not take it."""
    library = sim / "libhtsim.a"
    if not library.exists():
        raise InputError(f"{library} is not there; run `make` in {sim}, the folder sim of csg-htsim")
    program, source = folder / name, HERE / f"{name}.cpp"
    quiet = silenced(sim / "hpcc.cpp", folder)
    command = ["g++", "-std=c++11", "-O3", "-I", str(sim), "-o", str(program), str(source), str(quiet), str(library)]
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
