"""The header of the target `host`, compiled."""

import subprocess
from pathlib import Path

C99 = ("cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
CPP17 = ("c++", "-std=c++17", "-x", "c++", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compiled(source: str, include: Path, place: Path, compiler: tuple[str, ...] = C99) -> Path:
    file = place / "main.c"
    file.write_text(source)
    subprocess.run([*compiler, f"-I{include}", str(file), "-o", str(place / "main")], check=True)
    return place / "main"
