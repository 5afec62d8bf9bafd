"""Makes programs.py, and what the tests of decision and of the targets draw, importable here."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()
for folder in (HERE.parent, HERE.parents[2] / "decision", HERE.parents[2] / "targets"):
    sys.path.insert(0, str(folder))
