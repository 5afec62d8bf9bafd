"""`rlcc verify FIRMWARE`: prove the compiled decision for all inputs, or check a certificate of it again."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, foreign_option, share

SOLVERS = ("bitwuzla", "cvc5")


@click.command()
@click.argument("firmware", type=FOLDER)
@model_options("emulate", "profile", "compiler", "optimise", flags={"optimise": ("--optimise", "--opt")})
@click.option("--bound", is_flag=True, help="Prove only safety and a cycle bound. Supports loops.")
@click.option("--adapter", is_flag=True, help="Prove only the adapters for doca-pcc, connectx6dx and falcon-rue.")
@click.option("--out", type=FOLDER, help="Output file: the certificate, with the solver's questions next to it.")
@click.option("--check", "certificate", type=FOLDER, help="Check this certificate of FIRMWARE, without a proof.")
@click.option("--solver", type=click.Choice(SOLVERS), default=SOLVERS[0], show_default=True, help="Solver of --check.")
@click.option("--proofs", type=FOLDER, help="Output file of --check, .zip: a cvc5 proof of each refuted question.")
@click.option("--no-core", is_flag=True, help="Skip the emulated core in --check, for machines without Verilator.")
@click.option("--recipe", "recipe_file", type=FOLDER, help="Recipe with engine, properties and teacher.")
@click.option("--properties", help="Properties to decide: a TOML file, a certificate, or all.")
@click.option("--teacher", type=FOLDER, help="Teacher: also bound the deviation from its actions in nearby states.")
@click.option(
    "--around",
    callback=share,
    default="20 %",
    show_default=True,
    help="Nearby states: each feature differs by at most this fraction; with --teacher.",
)
@click.option(
    "--around-action",
    type=click.FloatRange(0, 4),
    default=0.02,
    show_default=True,
    help="Nearby states: each past action differs by at most this much; with --teacher.",
)
@click.option("--max-outside", type=click.FloatRange(0, 4), help="Maximum deviation; with --teacher.")
@click.option(
    "--picture", type=FOLDER, help="Output file, PNG or SVG: both policies near the worst deviation; with --teacher."
)
@foreign_option
@click.option(
    "--time-limit", type=click.IntRange(1), default=1800, show_default=True, help="Time limit of --check, seconds."
)
@handled
def command() -> None:
    """Prove that FIRMWARE's machine code equals its decision program for all inputs, is safe, and bound its cycles.

    --check reads engine, compiler and level from the certificate. If --profile, --compiler or --optimise is given, a
    certificate of another engine, compiler or level is refused.

    --check --no-core skips measurements on the core: the calibration of the cost model and the witness's cycles are
    taken from the certificate. The answer says so.

    --proofs asks cvc5 for a proof of every refuted question and writes it in the Alethe format.

    If FIRMWARE contains Verilog (rlcc emit --target rtl), its equality with the program and its wrapper's properties
    are proved too, and its vectors run in Verilator. A certificate is of the machine code alone.

    On an RV64 profile, equality and safety are proved, but no cycles, and no certificate is written.

    --bound proves safety and a cycle bound only, not the results. It follows the loops of quantised networks iteration
    by iteration, with ranges of words. Exit code 1: the ranges are too wide.

    --adapter proves the adapter's machine code for a device, with the decision as an arbitrary function: the rate, the
    flow's counters and the questions to the decision are as specified for every event. The default profile is then
    bluefield3-proxy.

    --properties decides each property of a FILE, or all known ones. A property of a FILE that does not hold is a
    failure. If --out is given, the properties become claims of the certificate.

    --teacher bounds the deviation of the student's action from its teacher's action range in the neighbourhood, over
    all states, and prints a state near the bound.

    --recipe reads engine, properties, teacher and neighbourhood from a recipe. Other options override it; --properties
    adds to it. If no deviation bound can be proved, the command says so, and fails only if the recipe requires it.

    Exit code 0: proved (or the certificate holds); 1: refuted, not proved, refused, a property does not hold, or the
    deviation exceeds --max-outside; 2: could not run.
    """
