"""The space of a search as data: which options of a recipe, with which values; and the recipe of any point in it.

A point is a value for each option, by its dotted name: {"distill.trees": 8, "emit.form": "auto"}. The recipe's own
values are a point of every space.
"""

import copy
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from decision.artefact.documents import read_text, validate
from decision.artefact.errors import InputError
from decision.artefact.renamed_keys import new_names
from rlcc.recipe import Recipe
from rlcc.search.options import SearchRange, Value, Values

FILE = Path(__file__).with_name("space.toml")
SECTIONS = ("distill.", "emit.")
"""Whose options may be searched, beside the recipe's seed: rollouts are made once, and the gate judges all alike."""
UNSAID = "as the recipe"
"""In place of a value that the recipe leaves to its default, where that is none of the values to choose from."""

Point = Mapping[str, Value]


@dataclass(frozen=True)
class SearchSpace:
    """``document``: the recipe's file as data; ``knobs``: by an option's name, what it may be; ``own``: the point that
    the recipe itself is."""

    where: str
    document: Mapping[str, Any]
    knobs: Mapping[str, SearchRange | tuple[Value, ...]]
    own: Point

    @staticmethod
    def of(path: Path, recipe: Recipe) -> "SearchSpace":
        """The default space with what the recipe's [search.space] says otherwise. InputError names what is wrong."""
        document = tomllib.loads(read_text(path))
        document.pop("search", None)
        default = TypeAdapter(dict[str, SearchRange | Values]).validate_python(tomllib.loads(FILE.read_text()))
        asked = {**default, **recipe.search.space}
        knobs: dict[str, SearchRange | tuple[Value, ...]] = {}
        own: dict[str, Value] = {}
        for name, values in asked.items():
            if name != "seed" and not name.startswith(SECTIONS):
                raise InputError(
                    f"{path}: search.space: {name!r} cannot be searched; name seed, or an option of [distill] or "
                    '[emit] such as "distill.trees"'
                )
            has = _said(document, recipe, name)
            own[name] = has
            if isinstance(values, SearchRange):
                if type(has) is not int:
                    raise InputError(
                        f"{path}: search.space: {name} is {has!r} in the recipe, not a whole number; give a list"
                    )
                knobs[name] = SearchRange(**{"from": min(values.low, has), "to": max(values.high, has)})
            else:
                _distinct(values, f"{path}: search.space: {name}")
                same = [value for value in values if type(value) is type(has) and value == has]
                knobs[name] = tuple(values if same else [has, *values])
        space = SearchSpace(str(path), document, knobs, own)
        for name, knob in knobs.items():
            for value in (knob.low, knob.high) if isinstance(knob, SearchRange) else knob:
                space.recipe({name: value})
        return space

    def to_json(self) -> dict[str, Any]:
        return {
            name: {"from": knob.low, "to": knob.high} if isinstance(knob, SearchRange) else list(knob)
            for name, knob in self.knobs.items()
        }

    def said(self, point: Point) -> dict[str, Any]:
        """The recipe's file with the point's values in it."""
        document: dict[str, Any] = copy.deepcopy(dict(self.document))
        for name, value in point.items():
            if value == UNSAID:
                continue
            *sections, key = name.split(".")
            table = document
            for section in sections:
                table = table.setdefault(section, {})
            table[key] = value
        return document

    def recipe(self, point: Point) -> Recipe:
        """The recipe of a point; InputError where its values do not go together, or one is no value of its option."""
        return validate(Recipe, self.said(point), self.where)


def _said(document: Mapping[str, Any], recipe: Recipe, name: str) -> Value:
    """Returns the recipe's value: that of its file, else the default."""
    table: Any = document
    model: Any = recipe
    for step in name.split("."):
        table = table.get(step) if isinstance(table, dict) else None
        if not hasattr(model, step):
            new = new_names([type(model)]).get(step) if isinstance(model, BaseModel) else None
            known = f"it is {name.removesuffix(step)}{new} now" if new else "name one of [distill] or [emit]"
            raise InputError(f"{recipe.name}: search.space: there is no option {name!r} of a recipe; {known}")
        model = getattr(model, step)
    value = model if table is None else table
    return value if isinstance(value, bool | int | float | str) else UNSAID


def _distinct(values: Values, where: str) -> None:
    texts = [json.dumps(value) for value in values]
    twice = [text for text in texts if texts.count(text) > 1]
    if twice:
        raise InputError(f"{where}: {twice[0]} stands twice")
