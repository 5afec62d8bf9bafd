"""`python -m rlcc`: the command `rlcc` of this Python.

Unlike that command Python then looks for modules in the current folder first, where a folder `verify` with an
`__init__.py` would stand in for rlcc's own: the current folder is left out, unless rlcc itself is there.
"""

import sys
from pathlib import Path

if not sys.flags.safe_path and Path(sys.path[0]).resolve() != Path(__file__).resolve().parent.parent:
    del sys.path[0]

from rlcc.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
