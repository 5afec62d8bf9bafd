"""`rlcc drift NOW MADE_ON`: has the traffic left what the student was made on?"""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from decision.policy.visits import Visits, joined
from rlcc.commands.console import console
from rlcc.drift import drift, interval


def handle(now: tuple[Path, ...], made_on: Path, most: float) -> int:
    here = drift(joined(Visits.read(path) for path in now), Visits.read(made_on))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("of", "apart", "beyond", "most of it"):
        table.add_column(title, justify="right" if title in ("apart", "beyond") else "left", overflow="fold")
    unseen = f"{here.unseen:.1%} in cells never met"
    table.add_row("all cells", f"{here.apart:.3f}", f"{here.beyond:.3f}", unseen)
    for one in here.features:
        new = "" if one.new is None else interval(one.new)
        table.add_row(escape(one.name), f"{one.apart:.3f}", f"{one.beyond:.3f}", new)
    out = console()
    out.print(table)
    drifted = here.beyond > most
    told = f"{here.beyond:.1%} of {here.decisions:,} decisions are beyond what it was made on ({most:.1%} allowed)"
    out.print(f"{'DRIFTED' if drifted else 'as it was made'}: {told}", soft_wrap=True)
    return 1 if drifted else 0
