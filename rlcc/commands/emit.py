"""`rlcc emit SOURCE`: write integer-only C of a distilled student (a folder), of a model made elsewhere (a file), or of
a teacher's network, quantised."""

import click

from codegen.form_names import NETWORK_FORMS, TREE_FORMS
from rlcc.commands.dispatch import handled
from rlcc.commands.model_options import model_options
from rlcc.commands.options import FOLDER, out_option

BITS = click.Choice(["8", "16"])


@click.command()
@click.argument("source", type=FOLDER)
@click.option("--grid", type=FOLDER, help="Feature ranges of a model file, TOML.")
@click.option("--policy", type=FOLDER, help="Signals and knobs of a model file, TOML: the model becomes a policy.")
@model_options("emit", "target")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the random test vectors.")
@model_options("emit", "engine", "optimise", "form", choices={"form": (*TREE_FORMS, *NETWORK_FORMS)})
@click.option("--rollouts", type=FOLDER, help="Rollouts to calibrate a quantised network on.")
@click.option("--recipe", type=FOLDER, help="Recipe of the rollouts, for networks whose agents are not flows.")
@click.option("--activation-bits", type=BITS, help="Bits of activations (networks).  [default: 16]")
@click.option("--hidden-bits", type=BITS, help="Bits of an LSTM's hidden state.  [default: 8]")
@click.option(
    "--context-bytes",
    type=click.IntRange(4),
    help="Context bytes per flow for a quantised network, if less than the target's.",
)
@model_options("emit", "max_code", "max_table", "max_cycles", "exclude_passes", "one_function", "constants", "prefix")
@click.option("--dump-passes", "dumps", type=FOLDER, help="Output folder: the program as text after each pass.")
@out_option
@handled
def command() -> None:
    """Write the firmware folder OUT: C, header, test vectors and manifest; for a student or network also the adapter.

    SOURCE is a student's folder, or a model file of CatBoost (cbm, JSON), XGBoost (JSON), LightGBM (text), GBRL or
    treelite. A model file needs --grid, for C of its features alone, or --policy, for a policy of agents in a network.
    It is compared with its library if that is installed: OUT.compared.json. For --form mlp-int8 or lstm-int8, SOURCE
    is a teacher whose network is quantised. A SOURCE that ends in .toml has the settings of a hand-written algorithm.
    """
