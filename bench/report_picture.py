"""A picture of a report for the documentation: python -m bench.report_picture REPORT.html PICTURE.png

Needs Chromium. Drawn are its head and its pictures of teacher and student, as a laptop shows them; the checks between
are left out.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from decision.artefact.errors import InputError
from rlcc.doctor import CHROMIUM

WIDTH, HEIGHT = 1180, 745
LEFT_OUT = "nav, #checks { display: none !important }"
COLOURS = 256


def draw(report: Path, picture: Path) -> None:
    """InputError where there is no report or no browser."""
    if not report.is_file():
        raise InputError(f"there is no {report}; rlcc run and rlcc gate write one beside each verdict")
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        raise InputError("there is no Chromium; apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        shot, page = Path(folder) / "shot.png", Path(folder) / "page.html"
        page.write_text(report.read_text(encoding="utf-8").replace("</style>", f"{LEFT_OUT}</style>", 1), "utf-8")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=2000"]
        flags += [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"]
        subprocess.run([program, *flags, page.as_uri()], check=True, capture_output=True, timeout=60)
        with Image.open(shot) as drawn:
            drawn.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT).save(picture, optimize=True)


if __name__ == "__main__":
    try:
        draw(Path(sys.argv[1]), Path(sys.argv[2]))
    except InputError as error:
        sys.exit(f"error: {error}")
