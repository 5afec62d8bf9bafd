"""How training tells its progress: a bar on a terminal, one line a validation elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from teachers.adpg import Progress as Listener
from teachers.adpg import Step


@contextmanager
def shown(console: Console, episodes: int) -> Iterator[Listener]:
    """A listener for ``teachers.adpg.train`` that writes to ``console`` while the context lasts."""
    if not console.is_terminal:
        yield lambda step: console.print(line(step), highlight=False) if step.cost is not None else None
        return
    told = TextColumn("{task.fields[told]}")
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), told)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=episodes, told="")

        def listen(step: Step) -> None:
            told = f"cost {step.best_cost:.4f}" if step.best_cost < float("inf") else ""
            bar.update(task, completed=step.episode, told=told)
            if step.cost is not None:
                bar.console.print(line(step), highlight=False)

        yield listen


def line(step: Step) -> str:
    """One validation: the cost, and goodput and RTT inflation (with what it should be) by number of flows."""
    runs = "  ".join(f"{m.flows}: {m.goodput:.3f} {m.inflation:.2f}({m.ideal_inflation:.2f})" for m in step.measured)
    cost = float("nan") if step.cost is None else step.cost
    return f"episode {step.episode}/{step.episodes}  cost {cost:.4f} (best {step.best_cost:.4f})  {runs}"
