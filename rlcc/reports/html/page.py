"""report.html, from a judgement."""

from pathlib import Path

from rlcc.gate.judgement import Judgement
from rlcc.recipe import EmulateOptions, GateOptions
from rlcc.reports.html.gather import gather
from rlcc.reports.html.render import render
from rlcc.reports.html.search import beside


def page(judgement: Judgement, engine: EmulateOptions, options: GateOptions, recipe: str | None, folder: Path) -> str:
    """Its text; ``recipe``: the name of its file, where there was one; ``folder``: where the verdict will lie."""
    return render(gather(judgement, engine, options, recipe, beside(folder)))
