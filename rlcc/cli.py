"""The command line: a Click group that loads a command's file only when it runs, and the one place where errors
become exit codes: 0 done (gate: PASS), 1 gate: FAIL, 2 could not run, 130 interrupted.
"""

from __future__ import annotations

import gc
import importlib
import io
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem

from decision.artefact.compiled import unusable
from decision.artefact.errors import InputError
from decision.artefact.suggest import meant
from decision.artefact.system_errors import refusal
from rlcc import __version__
from rlcc.commands import streams

COULD_NOT_RUN = 2
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
COLLECTION = (20_000, 10, 10)
"""New objects before a garbage collection, then collections before one of the next generation: Python's own 700 cost a
demo some 2 % of its CPU time, as a proof makes objects by the million and few circles."""

# The command's name -> its line in `rlcc --help`; `rlcc/commands/<name>.py` holds it as `command`, and
# `rlcc/handlers/<name>.py` what it does.
COMMANDS = {
    "demo": "Run a recipe shipped with rlcc, from teacher to verdict.",
    "run": "Run a recipe: every stage from the teacher to the verdict.",
    "search": "Search recipe options for fewer cycles and a smaller error.",
    "train": "Train a teacher in the simulator, by the method in its recipe.",
    "check": "Show how a trained policy is interpreted.",
    "rollout": "Simulate a teacher; record its decisions.",
    "import": "Turn a log of your own into rollouts with labels.",
    "distill": "Distil a teacher into depth-limited integer trees.",
    "emit": "Write integer-only C, adapter and test vectors.",
    "emulate": "Run all test vectors on the cycle-accurate core.",
    "cycles": "Break down cycles by part, tree and source line.",
    "verify": "Prove the machine code for all inputs; write a certificate.",
    "evaluate": "Compare policies in the same simulated networks.",
    "tune": "Set or show the parameters of a firmware, with units.",
    "identify": "Report which policies a firmware image holds.",
    "visits": "Count visits to each cell of a student's trees.",
    "diff": "Report where two policies decide differently.",
    "observe": "Replay a log of completions through a window's policy.",
    "drift": "Report how far traffic drifted from the training data.",
    "gate": "Judge a firmware folder: PASS (0), FAIL (1), error (2).",
    "attest": "Sign the claims of a firmware's certificate.",
    "doctor": "Report installed and missing dependencies.",
}


@dataclass
class Session:
    """Values of the group's own options; commands need none of it."""

    debug: bool = False


class LazyGroup(click.Group):
    """A group whose help needs no command's file, so that it stays fast whatever the commands import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"rlcc.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [CompletionItem(name, help=line) for name, line in COMMANDS.items() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}.{meant(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="rlcc")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Turn a trained congestion-control policy into firmware that can be trusted."""
    ctx.ensure_object(Session).debug = debug


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code. Garbage is collected less often meanwhile."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTION)
    try:
        return _run(arguments)
    finally:
        gc.set_threshold(*before)


def _run(arguments: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if (reason := streams.closed()) is not None:
        streams.tell(f"error: {reason}")
        return COULD_NOT_RUN
    session = Session()
    try:
        with streams.watched():
            result = cli.main(args=list(arguments), prog_name="rlcc", standalone_mode=False, obj=session)
    except click.ClickException as error:
        if isinstance(error, click.BadParameter) and isinstance(getattr(error.param, "type", None), click.Choice):
            value, *choices = re.findall("'([^']*)'", error.message)
            error = click.BadParameter(error.message + meant(value, choices), error.ctx, error.param)
        shown = io.StringIO()
        error.show(shown)
        streams.tell(shown.getvalue().rstrip())
        return COULD_NOT_RUN
    except (KeyboardInterrupt, click.Abort):
        streams.tell("interrupted")
        return INTERRUPTED
    except streams.LostStream as error:
        error.let_go()
        if str(error):
            streams.tell(f"error: {error}")
        return COULD_NOT_RUN
    except Exception as error:
        if session.debug:
            traceback.print_exc()
        streams.tell(f"error: {_sentence(error, arguments)}")
        return COULD_NOT_RUN
    return result if isinstance(result, int) else 0


def _sentence(error: Exception, arguments: Sequence[str]) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        from decision.artefact.extras import missing  # reads the metadata of distributions, which takes long to import

        command = next((word for word in arguments if word in COMMANDS), "")
        if sentence := missing(error.name or "", command):
            return str(sentence)
    if isinstance(error, ImportError) and (sentence := unusable(error)):
        return str(sentence)
    if (refused := refusal(error)) is not None:
        return refused
    message = " ".join(str(error).split())
    again = shlex.join(["rlcc", "--debug", *arguments])
    return f"unexpected {type(error).__name__}: {message} (a defect in rlcc; `{again}` shows where)"


if __name__ == "__main__":
    raise SystemExit(main())
