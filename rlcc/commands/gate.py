"""`rlcc gate FIRMWARE`: a verdict for a CI job."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER
from rlcc.commands.run_location import where_options

SIZE_FLAGS = {name: (f"--max-{name}",) for name in ("code", "table", "context", "stack")}
NEIGHBOURHOOD_FLAGS = {"limit": ("--max-outside",), "share": ("--around",), "action": ("--around-action",)}
CLOSED_LOOP_FLAGS = {"scenarios": ("--scenario", "scenarios"), "seeds": ("--seed", "seeds")}


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option("--recipe", "recipe_file", type=FOLDER, help="Recipe with teacher, engine and limits.")
@click.option("--teacher", type=FOLDER, help="Teacher to compare the student with.")
@model_options("emulate", "profile", "compiler", "optimise")
@model_options("gate", "budget")
@click.option(
    "--no-certificate",
    is_flag=True,
    help="Require no certificate. The budget then limits a bound over all inputs; if no bound is within the budget, "
    "the slowest vector plus --margin.",
)
@model_options("gate", "margin")
@model_options("gate.sizes", *SIZE_FLAGS, flags=SIZE_FLAGS)
@model_options("gate.neighbourhood", *NEIGHBOURHOOD_FLAGS, flags=NEIGHBOURHOOD_FLAGS)
@click.option(
    "--no-distance-proof",
    is_flag=True,
    help="Accept a deviation that is not proved; for an int8 network also one that was not searched for.",
)
@click.option("--reference", type=FOLDER, help="verdict.json of an earlier firmware, the reference.")
@model_options("gate", "max_regression")
@click.option(
    "--rollouts",
    type=FOLDER,
    help="Held-out rollouts, of `rlcc rollout` or `rlcc import`. [default: simulated with a separate seed]",
)
@model_options("gate", *CLOSED_LOOP_FLAGS, flags=CLOSED_LOOP_FLAGS, default="the recipe's, or {}")
@model_options("gate", "require", "device")
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
    help="Bottleneck RATE, RTT, QUEUE: also run TCP over it in a real kernel, compare with netsim. Repeatable.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Skip all simulations (actions, networks). The best outcome is then QUICK PASS, not PASS.",
)
@model_options("gate", "run_on_host")
@click.option(
    "--no-cache",
    is_flag=True,
    help="Take nothing from the cache of earlier runs: check the certificate, simulate the networks, build the core.",
)
@click.option("--time-limit", type=click.IntRange(1), default=900, show_default=True, help="Time limit, seconds.")
@click.option("--sarif", "sarif_file", type=FOLDER, help="Output file, SARIF.")
@click.option(
    "--out", type=FOLDER, help="Output folder of the verdict. [default: verdict, or quick-verdict, next to FIRMWARE]"
)
@where_options("threads")
@handled
def command() -> None:
    """Judge FIRMWARE: equality with the model, proof, worst case and budget, sizes, regression, actions and networks.

    --quick judges all but actions and networks. A model from another library has no teacher: its actions are not
    judged, and its networks, if it is a policy, by --require alone. Writes verdict.json, junit.xml, summary.md and
    report.html. Exit code 0: PASS or QUICK PASS, 1: FAIL, 2: could not run.
    """
