"""The way of a recipe from `rlcc run` to the verdict: which functions it goes through, of which files.

    python -m bench.way RECIPE [--list]

Counted are the distinct functions of a package that are entered in this process between command and printed verdict: no
``__init__`` and the like, no lambdas and comprehensions, nothing that runs while a module is imported. A run keeps
nothing: its artefacts go into a folder that is removed.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rlcc import cli

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("rlcc", "distill", "codegen", "emulator", "verify", "netsim", "teachers", "decision")

Places = dict[str, set[str]]
"""Names of functions by file."""


def watched(call: Callable[[], Any], each: Callable[[str, FrameType], None]) -> None:
    """``each`` sees every entry of a function of rlcc's packages while ``call`` runs: its file, and its frame."""
    known: dict[CodeType, str | None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call":
            return
        if code not in known:
            known[code] = _file(code)
        if (file := known[code]) is not None:
            each(file, frame)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)


def _file(code: CodeType) -> str | None:
    """Returns the file of a function that counts, from the root; else None."""
    path = Path(code.co_filename)
    ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
    return str(path.relative_to(ROOT)) if ours and not code.co_name.startswith(("<", "__")) else None


def way(recipe: Path) -> Places:
    """Returns the places of the run of a recipe. RuntimeError where it could not run."""
    import_module("rlcc.handlers.run")  # what an import runs is no way
    with tempfile.TemporaryDirectory(prefix="rlcc-way-") as name:
        codes: list[int] = []
        places: Places = {}
        run = ["run", str(recipe), "--out", str(Path(name) / "out"), "--no-cache"]
        watched(lambda: codes.append(cli.main(run)), lambda file, frame: entered(places, file, frame))
    if codes[0] not in (0, 1):
        raise RuntimeError(f"rlcc run {recipe} ended with {codes[0]}")
    return places


def entered(places: Places, file: str, frame: FrameType) -> None:
    """Note a function."""
    places.setdefault(file, set()).add(frame.f_code.co_qualname)


def functions(places: Places) -> Counter[str]:
    """Functions by package."""
    count: Counter[str] = Counter()
    for file, names in places.items():
        count[file.partition("/")[0]] += len(names)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--list", action="store_true", help="also each function of rlcc/")
    asked = parser.parse_args()
    places = way(asked.recipe)
    for package, number in functions(places).most_common():
        files = sum(1 for file in places if file.startswith(f"{package}/"))
        print(f"{package:10} {number:4} functions in {files:3} files")
    if asked.list:
        for file in sorted(f for f in places if f.startswith("rlcc/")):
            print(f"{file}: {', '.join(sorted(places[file]))}")


if __name__ == "__main__":
    main()
