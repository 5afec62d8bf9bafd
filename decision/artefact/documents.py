"""Reading TOML and JSON documents into checked models, with errors a person can act on; JSON as rlcc writes it.

Input is not trusted: size, depth and numbers are bounded, special files are refused, and every fault is an InputError.
"""

import json
import os
import re
import tomllib
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

import decision.artefact.pydantic_version  # noqa: F401 - before any model is read or written
from decision.artefact.errors import InputError
from decision.artefact.folder import PLAIN, content_of
from decision.artefact.renamed_keys import new_names
from decision.artefact.suggest import alike, meant

MAX_DOCUMENT_BYTES = 64 * 2**20
MAX_DEPTH = 64
"""Lists and tables within each other; rlcc writes at most nine."""
INTEGERS = -(2**63), 2**64 - 1
INTEGER_CHARACTERS = 20
"""The longest of them, a sign included."""
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""Of two escapes that are one character: a text with a half by itself cannot be written."""

QUOTED = r"'([^']*)'"
"""A name in a sentence of the checker."""


def _whole_number(value: object) -> object:
    if type(value) is not int:
        raise ValueError(f"must be a whole number, not {_shown(value)}")
    return value


WHOLE_NUMBER = BeforeValidator(_whole_number)
"""Of a Literal of numbers, to which true and 1.0 are 1."""
Format1 = Annotated[Literal[1], WHOLE_NUMBER]
"""The first version of a kind of file."""

M = TypeVar("M", bound=BaseModel)


def load_toml(model: type[M], path: Path) -> M:
    """The TOML file as a checked ``model``; InputError names the file, the key and what is wrong with it."""
    return parse_toml(model, read_bytes(path), str(path))


def parse_toml(model: type[M], content: bytes, where: str) -> M:
    """The same of a file's bytes; ``where`` names it."""
    return validate(model, toml_tables(content, where), where)


def toml_tables(content: bytes, where: str) -> dict[str, Any]:
    """Returns the tables of a TOML file's bytes, not checked against a model yet."""
    try:
        data = tomllib.loads(as_text(content, where))
        _shallow(data, where)
        _small_integers(data)
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError) as error:
        # ValueError: also an integer of more digits than Python reads; the others: tomllib's own on odd input.
        raise InputError(f"{where} is not valid TOML: {error}") from None
    return data


def load_json(path: Path) -> Any:
    """The JSON file's content; InputError where it is not JSON, or not as rlcc writes it."""
    return parse_json(read_bytes(path), str(path))


def parse_json(content: bytes, where: str) -> Any:
    """The content of a JSON document that nobody has vouched for; ``where`` names it.

    InputError where it is not JSON in UTF-8, nested deeper than ``MAX_DEPTH``, has a key twice, a number that is not
    finite, an integer beyond 64 bits, or half a character."""
    text = as_text(content, where)
    try:
        data = json.loads(
            text,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_integer,
            object_pairs_hook=_without_duplicates,
        )
        if HALF_CHARACTER.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not valid JSON ({error}); make it again with rlcc") from None
    _shallow(data, where)
    return data


def _small_integers(data: Any) -> None:
    """ValueError where an integer has more than 64 bits; TOML has none."""
    if type(data) is int and not INTEGERS[0] <= data <= INTEGERS[1]:
        raise ValueError("an integer has more than 64 bits")
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        _small_integers(inner)


def _integer(text: str) -> int:
    """Longer ones take minutes to read, and no field has room for them."""
    value = int(text) if len(text) <= INTEGER_CHARACTERS else None
    if value is None or not INTEGERS[0] <= value <= INTEGERS[1]:
        raise ValueError("an integer has more than 64 bits")
    return value


def _finite(text: str) -> float:
    value = float(text)
    return value if isfinite(value) else _no_number(text)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers choose differently between two values of one key: the checked value would not be the used one."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content


def _shallow(data: Any, where: str) -> None:
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InputError(f"{where} is nested deeper than {MAX_DEPTH} levels, more than any file rlcc writes")


def _no_number(name: str) -> NoReturn:
    raise InputError(f"{name} is not a number that JSON has; make the file again with rlcc")


def validate(model: type[M], data: Any, where: str) -> M:
    """``data`` as a checked ``model``; the first thing that is wrong becomes the sentence of an InputError.

    Types are strict, as JSON has them: no truth value, float or text is a whole number, no text or number a truth
    value; a whole number is a float, a list may be a tuple."""
    try:
        return model.model_validate_json(json.dumps(data, default=_no_type), strict=True)
    except TypeError as error:
        raise InputError(f"{where}: {error}") from None
    except ValidationError as error:
        first = _first(error.errors())
        location, reason = first["loc"], first["msg"].removeprefix("Value error, ")
        key = ".".join(_steps(location, data, missing=first["type"] == "missing")) or "the document"
        if first["type"] == "extra_forbidden":
            reason = _unknown_key(str(location[-1]), _tables(model, location[:-1]))
        elif first["type"] == "missing":
            reason = "is missing"
        elif first["type"] == "union_tag_invalid":
            kind, tags = first["input"].get("kind"), first["ctx"]["expected_tags"]
            key += ".kind"
            reason = f"{kind!r} is unknown; choose one of {tags}{meant(kind, tags.replace(chr(39), '').split(', '))}"
        elif first["type"] == "literal_error":
            reason += f", not {_shown(first['input'])}{meant(first['input'], re.findall(QUOTED, first['msg']))}"
        elif first["type"].endswith("_type"):
            reason += f", not {_shown(first['input'])}"
        raise InputError(f"{where}: {key}: {reason}") from None


def _first(errors: list[ErrorDetails]) -> ErrorDetails:
    """The one that is told: of a missing key and an unknown one beside it, perhaps the same misspelt, the latter."""
    first = errors[0]
    beside = [one for one in errors if one["type"] == "extra_forbidden" and one["loc"][:-1] == first["loc"][:-1]]
    return beside[0] if first["type"] == "missing" and beside else first


def _no_type(value: object) -> NoReturn:
    raise TypeError(f"{value} is of a type that no key here has; write text in quotes")


def _shown(value: object) -> str:
    """As it stands in the file, where it is short."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return json.dumps(value)


def _unknown_key(key: str, tables: list[type[BaseModel]]) -> str:
    """Returns why a table has no such key, and which key to write."""
    if new := new_names(tables).get(key):
        return f"this key is {new} now; rename it"
    known = sorted({name for table in tables for name in table.model_fields})
    near = alike(key, known)
    return "no such key; " + (f"did you mean {near}?" if near else f"there are {', '.join(known)}")


def _tables(model: type[BaseModel], location: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """Returns the models that a table may be of, ``location`` the steps of an error that lead to it."""
    models = [model]
    for step in location:
        inner = [
            each for one in models if step in one.model_fields for each in _models(one.model_fields[step].annotation)
        ]
        tagged = [one for one in models if _kinds(one) == {step}]  # the checker puts a union's kind between
        models = inner or tagged or models  # else a place in a list, or a name in a table of tables
    return [one for one in models if one.model_config.get("extra") == "forbid"]


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Those that a value of such an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        root = annotation.model_fields.get("root")
        return [annotation] if root is None else _models(root.annotation)
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _kinds(model: type[BaseModel]) -> set[Any]:
    kind = model.model_fields.get("kind")
    return set() if kind is None else set(get_args(kind.annotation))


def _steps(location: tuple[int | str, ...], data: Any, missing: bool) -> list[str]:
    """The keys that lead to an error; what the checker puts between (a validator's name, a union's kind) is none."""
    steps = []
    for n, step in enumerate(location):
        if isinstance(data, dict) and step not in data and not (missing and n == len(location) - 1):
            continue
        steps.append(str(step))
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            data = None
    return steps


def read_text(path: Path) -> str:
    """The file as UTF-8 text, bounded in size."""
    return as_text(read_bytes(path), str(path))


def as_text(content: bytes, where: str) -> str:
    """The bytes as UTF-8 text; InputError names the document that is none."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where} is not UTF-8 text") from None


def read_bytes(path: Path) -> bytes:
    """The file's bytes; InputError where it is not there, not a plain file or over the size limit. A link that a user
    names is followed."""
    try:
        return content_of(os.open(path, PLAIN), path, MAX_DOCUMENT_BYTES)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last: its name holds a null byte
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def dump_json(data: Any) -> str:
    """JSON as rlcc writes it: two spaces, lists of numbers on one line, keys in the given order, final newline."""
    return _render(data, 0) + "\n"


def _render(value: Any, depth: int) -> str:
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        items = [f"{pad}{json.dumps(str(k))}: {_render(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{end}}}"
    if isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value):
        return "[\n" + ",\n".join(pad + _line_or_block(v, depth + 1) for v in value) + f"\n{end}]"
    return json.dumps(value, allow_nan=False)


def _line_or_block(value: Any, depth: int) -> str:
    line = json.dumps(value, allow_nan=False)
    return line if len(line) <= 160 else _render(value, depth)
