"""CPU seconds, user and system, of each command's help: the least of five runs.

python -m bench.help
"""

import os
import sys

from rlcc.cli import COMMANDS
from rlcc.reports.pages import table

RUNS = 5
ARGUMENTS = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
PROGRAM = "import sys\nfrom rlcc.cli import main\nraise SystemExit(main(sys.argv[1:]))"


def cpu_seconds(arguments: list[str]) -> float:
    """Returns the CPU time of one process that runs rlcc with these arguments and prints to nowhere."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    command = [sys.executable, "-c", PROGRAM, *arguments]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"rlcc {' '.join(arguments)} ends with status {status}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    rows = [
        [f"`rlcc {' '.join(arguments)}`", f"{min(cpu_seconds(arguments) for _ in range(RUNS)):.3f}"]
        for arguments in ARGUMENTS
    ]
    print(table(["command", "CPU s"], rows))
