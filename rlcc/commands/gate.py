"""`rlcc gate FIRMWARE`: PASS or FAIL for a CI job."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from decision.artefact.quantity import parse_duration_ps
from rlcc.commands.handled import handled
from rlcc.commands.options import FOLDER, quantity, share
from rlcc.commands.where import where_options

Command = TypeVar("Command", bound=Callable[..., Any])


def _limits(command: Command) -> Command:
    """What the firmware must hold."""
    bytes_of = click.IntRange(0, 2**31 - 1)
    for option in reversed(
        [
            click.option(
                "--budget", callback=quantity(parse_duration_ps), help='Maximum decision time, for example "0.9 us".'
            ),
            click.option(
                "--no-certificate",
                is_flag=True,
                help="Compare the budget with measured cycles only; require no certificate.",
            ),
            click.option(
                "--margin", callback=share, help='Margin on the slowest vector if nothing is proved. [default: "10 %"]'
            ),
            click.option("--max-code", type=bytes_of, help="Maximum code size, bytes. [default: the profile's]"),
            click.option(
                "--max-table", type=bytes_of, help="Maximum size of constant tables, bytes. [default: the profile's]"
            ),
            click.option(
                "--max-context", type=bytes_of, help="Maximum context size, bytes per flow. [default: the profile's]"
            ),
            click.option("--max-stack", type=bytes_of, help="Maximum stack size, bytes. [default: the profile's]"),
            click.option(
                "--max-outside",
                type=click.FloatRange(0, 4),
                help="Maximum deviation from the teacher's action range. [default: 0.25]",
            ),
            click.option(
                "--around", callback=share, help='Neighbourhood: relative change of each signal. [default: "20 %"]'
            ),
            click.option(
                "--around-action",
                type=click.FloatRange(0, 4),
                help="Neighbourhood: absolute change of each past action. [default: 0.02]",
            ),
            click.option(
                "--no-distance-proof",
                is_flag=True,
                help="Accept an unproved deviation bound; its check says why.",
            ),
            click.option("--reference", type=FOLDER, help="verdict.json of an earlier firmware, the reference."),
            click.option(
                "--max-regression", callback=share, help='Maximum regression from the reference. [default: "5 %"]'
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option("--recipe", "recipe_file", type=FOLDER, help="Recipe with teacher, engine and limits.")
@click.option("--teacher", type=FOLDER, help="Teacher to compare the student with.")
@click.option("--profile", help="Engine profile, name or TOML file. [default: ibex-small]")
@click.option("--compiler", help="clang or gcc. [default: clang]")
@click.option("--optimise", help="Optimisation level. [default: -O2]")
@_limits
@click.option(
    "--rollouts", type=FOLDER, help="Held-out rollouts of `rlcc rollout`. [default: simulated with a separate seed]"
)
@click.option("--scenario", "scenarios", multiple=True, help="Closed-loop networks. Repeatable.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Closed-loop networks. Repeatable.")
@click.option(
    "--certificate", type=FOLDER, help="Certificate file. [default: certificate/certificate.json next to FIRMWARE]"
)
@click.option(
    "--attestation", type=FOLDER, help="Envelope of `rlcc attest`: files and claims must match. Requires --key."
)
@click.option("--key", type=FOLDER, help="Public Ed25519 key of the signer, PEM.")
@click.option(
    "--linux",
    multiple=True,
    metavar="PATH",
    help="Path for a run in a real kernel: RATE, RTT, QUEUE. netsim must predict it.",
)
@click.option(
    "--quick", is_flag=True, help="Skip rollouts and networks. The best outcome is then QUICK PASS, not PASS."
)
@click.option("--run-on-host", is_flag=True, help="Also run the C on this machine under sanitizers.")
@click.option(
    "--no-cache",
    is_flag=True,
    help="Take nothing from the cache: check a certificate again, and build the emulated core anew.",
)
@click.option("--time-limit", type=click.IntRange(1), default=900, show_default=True, help="Time limit, seconds.")
@click.option("--sarif", "sarif_file", type=FOLDER, help="Output file, SARIF.")
@click.option(
    "--out", type=FOLDER, help="Output folder of the verdict. [default: verdict, or quick-verdict, next to FIRMWARE]"
)
@where_options("threads")
@handled
def command() -> None:
    """Judge FIRMWARE: equality with the model, proof, worst case and budget, sizes, regression, actions and closed
    loop.

    --quick judges all but actions and closed loop. A model from another library has no teacher; its actions and closed
    loop are not judged. Writes verdict.json, junit.xml, summary.md and report.html. Exit code 0: PASS or QUICK PASS, 1:
    FAIL, 2: could not run.
    """
