"""`rlcc train RECIPE`: train a teacher in the native simulator."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER, out_option
from rlcc.commands.run_location import where_options


@click.command()
@click.argument("recipe_file", metavar="RECIPE", type=FOLDER)
@click.option("--resume", is_flag=True, help="Resume from the checkpoint of an interrupted training.")
@out_option
@where_options("threads")
@handled
def command() -> None:
    """Train the policy of RECIPE; write policy.safetensors and policy.toml to OUT.

    The recipe's table names the method: [training] ADPG, [ppo] PPO, [ddqn] double DQN, [ddpg] DDPG, [pg] policy
    gradient. A checkpoint next to OUT is written after every episode; --resume continues from it.
    """
