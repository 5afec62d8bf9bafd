"""`rlcc tune FIRMWARE NAME=VALUE ...`: what an operator sets, as the bytes that the device keeps, and back."""

import click

from rlcc.commands.dispatch import handled
from rlcc.commands.options import FOLDER

FORMS = ("bytes", "hex", "words", "c", "bpftool")


@click.command()
@click.argument("firmware", type=FOLDER)
@click.argument("settings", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--target", help="Target device, if the folder was emitted for all.")
@click.option("--from", "now", type=FOLDER, help="Current parameters: bytes, hexadecimal, or JSON of bpftool -j.")
@click.option("--as", "form", type=click.Choice(FORMS), help="Output format. [default: a table; bytes with --out]")
@click.option("--out", type=FOLDER, help="Output file.")
@handled
def command() -> None:
    """Set FIRMWARE's parameters, each with its unit: base_rtt="1.1 ms" line_rate="100 Mb/s" rate_start="1 %".

    Other parameters keep their value of --from, or of the emitted firmware. A C name (rate_start_q30=1024) takes the
    raw integer. Without NAME=VALUE the command lists the parameters.
    """
