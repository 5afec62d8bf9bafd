"""How a field of options is shown in `--help` and in the docs, where its type and default do not say it."""

from dataclasses import dataclass

from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Shown:
    """Marks a field. ``default``: the words for a default; ``choices``: the values, where they are data; ``percent``: a
    number whose option is written as a share ("5 %")."""

    default: str = ""
    choices: tuple[str, ...] = ()
    percent: bool = False


def shown_of(field: FieldInfo) -> Shown:
    """Returns the mark of a field, an empty one where it has none."""
    return next((mark for mark in field.metadata if isinstance(mark, Shown)), Shown())


def shown_default(field: FieldInfo) -> str:
    """Returns the default as text, an empty one for None, false and an empty list."""
    if said := shown_of(field).default:
        return said
    unset = field.is_required() or field.default is None or field.default is False or field.default == []
    return "" if unset else "true" if field.default is True else str(field.default)
