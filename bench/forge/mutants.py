"""Mutants of code and data: what would be wrong if someone had built it so, or changed it in one place alone.

Data: what decides (student, model, network) is changed, and the whole folder is made anew of it: C, program, vectors,
header, manifest all agree. Nothing of the folder can tell; only its teacher can. A proof of the mutant's code would
hold, so the gate is asked without one: whoever forges can prove what is true.

Code: one text of the folder is changed, and hashes are made right. The certificate then speaks of the image that the
mutant compiles to.
"""

import contextlib
import json
import random
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from bench.forge import judges, seal
from bench.forge.documents import Forgery, Judge, decider_name
from bench.forge.judges import Files
from bench.forge.places import ForgeryPlace, places, replaced
from bench.forge.subjects import ForgerySubject
from bench.forge.texts import dumped
from codegen.differences import body_in
from codegen.emit import emission_of, emit_body
from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.deciders import load_decider
from emulator.firmware_folder import built
from verify.trusted.certificate import image_hash

AMOUNTS = (1, 2, 16, 256, 1024, 2048, 4096, 8192, 1 << 14, 1 << 16)
"""By which a leaf, a bias or a weight is changed; 2^14 and more is the largest action of a flow."""
HALF = 5570
"""0.085 in Q16: half a backdoor."""
DECIDING = ("ensemble", "network", "trees", "forest", "bias", "action", "limits", "start", "trigger", "observation")
"""Keys of a decider's file that decide, with all that lies under them."""


Change = Callable[[], tuple[str, Any]]
"""A drawn change: its name, and what decides after it."""


# --- data ------------------------------------------------------------------------------------------------------------


def data_mutants(subject: ForgerySubject, count: int, draw: random.Random) -> Iterator[Forgery]:
    """``count`` deciders that differ in one thing: fields of all kinds in turn, and trees added in narrow
    cells."""
    name = decider_name(subject.files.firmware)
    data = load_json(subject.files.firmware / name)
    kinds: dict[str, list[Change]] = {}
    for place in places(data):
        if place.path and place.path[0] in DECIDING and _number(place):
            kinds.setdefault(place.field, []).append(partial(_changed, data, place, draw))
    fields = list(kinds)
    for number in range(count):  # a greater count begins with what a lesser one drew
        of_trees = number % 3 == 0 and _forest(data)
        change = partial(_with_tree, data, draw) if of_trees else draw.choice(kinds[fields[number % len(fields)]])
        edit, content = change()
        yield _data(f"{number} {edit}", content, name)


def _forest(data: Any) -> str:
    """The key of a decider's trees; empty where it has none."""
    return next((key for key in ("ensemble", "forest") if key in data), "")


def _number(place: ForgeryPlace) -> bool:
    return isinstance(place.value, int) and not isinstance(place.value, bool)


def _changed(data: Any, place: ForgeryPlace, draw: random.Random) -> tuple[str, Any]:
    """One number by a drawn amount."""
    amount = draw.choice(AMOUNTS) * draw.choice((-1, 1))
    return f"{place.field} {amount:+d}", replaced(data, place.path, place.value + amount)


def _with_tree(data: Any, draw: random.Random) -> tuple[str, Any]:
    """A tree that fires where one feature has one value, or a few: in a cell that was none before."""
    key = _forest(data)
    ensemble = data[key]
    trees, features = ensemble["trees"], ensemble["features"]
    feature, wide = draw.randrange(len(features)), draw.choice((1, 3, 100))
    known = [q[1] for tree in trees for q in tree.get("splits", tree.get("questions", [])) if q[0] == feature]
    low = draw.choice(known or [draw.randrange(1 << 16)]) + draw.randrange(1, 1 << 10)
    amount = draw.choice((HALF, -HALF, 2 * HALF, -2 * HALF, 1 << 14, -(1 << 14), 64))
    leaves = [0, amount, 0, 0]
    scalar = not isinstance(ensemble["bias"], list)
    outputs = 1 if scalar else len(ensemble["bias"])
    at = draw.randrange(outputs)
    value = [leaf if scalar else [leaf * (n == at) for n in range(outputs)] for leaf in leaves]
    tree = {"splits": [[feature, low], [feature, low + wide]], "leaves": value}
    content = {**data, key: {**ensemble, "trees": [*trees, tree]}}
    return f"a tree of {features[feature]} in {wide} values, {amount:+d}", content


def _data(edit: str, content: Any, name: str) -> Forgery:
    def write(files: Files) -> None:
        (files.firmware / name).write_text(dump_json(content))
        seal.listed(files.firmware)
        manifest = opened(files.firmware, "firmware")
        parents = dict(manifest.parents)
        body = body_in(manifest, load_decider(manifest))
        shutil.rmtree(files.firmware)
        emit_body(body, files.firmware, emission_of(manifest), parents=parents)
        _unproved(files)

    return Forgery(
        "mutants of data", (edit.partition(" ")[2].rpartition(" ")[0],), edit, True, write, (judges.gate_unsigned,)
    )


def _unproved(files: Files) -> None:
    """The recipe asks for no certificate, and none is there; nor is the true student, which would tell."""
    files.certificate.unlink(missing_ok=True)
    shutil.rmtree(files.student, ignore_errors=True)
    if files.recipe.is_file():
        recipe = tomllib.loads(files.recipe.read_text())
        recipe["gate"]["proof"] = False
        files.recipe.write_bytes(dumped(recipe, toml=True))


# --- code ------------------------------------------------------------------------------------------------------------

TOKENS = re.compile(r"\b\d+U?\b|[<>]=?|[=!]=|<<|>>|(?<![-+/*])[-+](?![-+])|[&|^](?![&|])|\breturn\b")
SWAPS: Mapping[str, str] = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "<<": ">>",
    ">>": "<<",
    "+": "-",
    "-": "+",
    "&": "|",
    "|": "&",
    "^": "&",
    "return": "return 1 +",
}
WALKS = 10
"""Mutants of code that the checker walks, where such a walk takes long."""
SOURCES = (".c", ".h", ".inc", ".csv", ".mk")


def code_mutants(subject: ForgerySubject, count: int, draw: random.Random) -> Iterator[Forgery]:
    """``count`` texts with one token changed, most of them in the decision's own C and header."""
    firmware = subject.files.firmware
    names = sorted(str(p.relative_to(firmware)) for p in firmware.rglob("*") if p.suffix in SOURCES)
    asked = (judges.check_foreign, judges.gate_unsigned) if subject.proved else (judges.gate_unsigned,)
    names += ["rlcc_policy.c"] * (3 * len(names)) + ["rlcc_policy.h"] * len(names)
    for number in range(count):
        if number >= WALKS and not subject.small:
            asked = (judges.gate_unsigned,)
        name = names[number] if number < len(set(names)) else draw.choice(names)
        text = (firmware / name).read_text()
        tokens = [match for match in TOKENS.finditer(text) if not _in_comment(text, match.start())]
        if tokens:
            match = draw.choice(tokens)
            other = _other_token(match.group(), draw)
            line = text.count("\n", 0, match.start()) + 1
            changed = text[: match.start()] + other + text[match.end() :]
            yield _code(name, f"{number} line {line}: {match.group()} -> {other}", changed, asked)


def _in_comment(text: str, at: int) -> bool:
    """Whether a place of C is in a comment; a comment of ours is never within a text."""
    return text.rfind("/*", 0, at) > text.rfind("*/", 0, at)


def _other_token(token: str, draw: random.Random) -> str:
    if token in SWAPS:
        return SWAPS[token]
    digits = token.rstrip("U")
    number = max(0, int(digits) + draw.choice((-1, 1, 2, 16, -16)))
    return f"{number + (str(number) == digits)}{token[len(digits) :]}"


def _code(name: str, edit: str, text: str, asked: tuple[Judge, ...]) -> Forgery:
    def write(files: Files) -> None:
        (files.firmware / name).write_text(text)
        seal.listed(files.firmware)
        seal.pointed(files.certificate, files.firmware, _image(files))

    return Forgery("mutants of code", (name,), edit, True, write, asked)


def _image(files: Files) -> str | None:
    """The hash of what the folder compiles to; None where it does not."""
    with contextlib.suppress(InputError, KeyError, OSError, ValueError):
        engine = json.loads(files.certificate.read_bytes())
        subject = engine["subject"]
        made = built(
            files.firmware,
            profile=engine["engine"]["profile"]["name"],
            compiler=subject["compiler"],
            opt=subject["flags"][-1],
        )
        return image_hash(made.image)
    return None
