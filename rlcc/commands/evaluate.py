"""`rlcc evaluate POLICY...`: policies side by side in the network."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, foreign_option, seed_option
from rlcc.commands.run_location import where_options

STACKS = ("netsim", "linux")
SCENARIOS = ("many-to-one:8", "many-to-one:64", "many-to-one:1024", "all-to-all:4", "long-short:8")
"""Few flows and many, several receivers, and a change of load."""


@click.command()
@click.argument("policies", nargs=-1, required=True)
@click.option("--stack", type=click.Choice(STACKS), default="netsim", show_default=True, help="Transport of the flows.")
@click.option(
    "--path", "paths", multiple=True, help="Path of --stack linux: RATE, RTT, QUEUE[, MARK-MARK]. Repeatable."
)
@click.option(
    "--predict",
    type=click.Choice(("show", "hold")),
    help="Compare --stack linux with netsim's prediction; hold: exit code 1 if one deviates.",
)
@click.option(
    "--scenario", "scenarios", multiple=True, default=SCENARIOS, show_default=True, help="Scenario. Repeatable."
)
@model_options("evaluate", "suite")
@seed_option(11)
@model_options("evaluate", "duration", "decision_latency")
@model_options("emulate", "profile")
@model_options("evaluate", "engines", "engine_queue", "overload")
@click.option("--network", "network_file", type=FOLDER, help="Network, TOML file.")
@model_options("evaluate", "device", "transport", "metrics", flags={"metrics": ("--metric", "metrics")})
@where_options("processes")
@click.option("--out", type=FOLDER, help="Output folder: cached runs and the evaluation.")
@click.option("--no-pictures", "pictures", flag_value=False, default=True, help="Skip pictures in --out.")
@click.option("--json", "json_file", type=FOLDER, help="Output file: all metrics as JSON.")
@foreign_option
@handled
def command() -> None:
    """Compare POLICIES in the same networks with the same seeds; print a table.

    POLICY is [LABEL=]WHAT[@target:RATIO][@LATENCY]. WHAT is a teacher, a student, a firmware folder, an algorithm's
    TOML file, or a baseline by its name or TOML file. RATIO scales the operator's target, if the policy has one.
    FIRMWARE@PROFILE and FIRMWARE@rtl:PROFILE decide on the emulated core. POLICY@25%+POLICY@75% share a network, each
    with its share of the flows; @class:1 after one selects its queue. On --stack linux a real kernel's TCP carries the
    flows: firmware of the target linux-bpf, cubic, reno, bbr, dctcp.
    """
