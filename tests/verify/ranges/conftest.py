import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # drawn_words.py
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # options_by_hand.py
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "decision"))  # which needs drawing.py
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "codegen" / "networks"))  # drawn_teachers.py
