"""Makes gridded.py importable: what the tests of all front ends share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
