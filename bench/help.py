"""CPU seconds, user and system, of each command's help: the least of five runs.

python -m bench.help
"""

import subprocess
import sys

from bench.cpu import children_s
from rlcc.cli import COMMANDS
from rlcc.reports.pages import table

RUNS = 5
ARGUMENTS = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
PROGRAM = "import sys\nfrom rlcc.cli import main\nraise SystemExit(main(sys.argv[1:]))"


def cpu_seconds(arguments: list[str]) -> float:
    """Returns the CPU time of one process that runs rlcc with these arguments and prints to nowhere."""
    before = children_s()
    subprocess.run([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.DEVNULL, check=True)
    return children_s() - before


if __name__ == "__main__":
    rows = [
        [f"`rlcc {' '.join(arguments)}`", f"{min(cpu_seconds(arguments) for _ in range(RUNS)):.3f}"]
        for arguments in ARGUMENTS
    ]
    print(table(["command", "CPU s"], rows))
