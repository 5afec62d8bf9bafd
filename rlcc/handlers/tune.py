"""`rlcc tune FIRMWARE NAME=VALUE ...`: what an operator sets, as the bytes that the device keeps, and back."""

from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from codegen.tuning import Word, chosen, packed, size_of, told, unpacked, words_of
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.linux import bpftool
from rlcc.commands.console import console
from rlcc.commands.options import not_within

FORMS = ("bytes", "hex", "words", "c", "bpftool")


def handle(
    firmware: Path, settings: tuple[str, ...], target: str | None, now: Path | None, form: str | None, out: Path | None
) -> None:
    words = words_of(firmware, target)
    if not words:
        raise InputError(f"{firmware} has no parameters to set")
    current = {} if now is None else _read(words, now)
    values = chosen(words, current, _settings(settings))
    content = packed(words, values)
    own = any(word.name == "line_rate_bytes" for word in words)
    if form == "bpftool" and not own:
        raise InputError("--as bpftool is for the target linux-bpf, whose parameters are a map of the kernel")
    if out is not None:
        not_within(firmware, out)
        text = _text(form or "bytes", words, values, content)
        write_atomically(out, content if text is None else text + "\n")
    elif form == "bytes":
        raise InputError("--as bytes is not for a terminal; name a file by --out")
    elif form is not None:
        click.echo(_text(form, words, values, content))
    if out is not None or form is None:
        console().print(_table(words, values))


def _read(words: tuple[Word, ...], file: Path) -> dict[str, int]:
    try:
        return unpacked(words, bpftool.content_of(read_bytes(file), size_of(words)))
    except InputError as error:
        raise InputError(f"--from {file}: {error}") from None


def _settings(texts: tuple[str, ...]) -> dict[str, str]:
    said: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InputError(f'{text!r} is no setting; write NAME=VALUE, for example base_rtt="1 ms"')
        if name in said:
            raise InputError(f"{name} is set twice; set it once")
        said[name] = value.strip()
    return said


def _text(form: str, words: tuple[Word, ...], values: dict[str, int], content: bytes) -> str | None:
    """None: the bytes themselves."""
    if form == "bytes":
        return None
    if form == "hex":
        return content.hex(" ")
    if form == "bpftool":
        return bpftool.update(content)
    if form == "words":
        return "\n".join(f"{i} {values[word.name]} {word.name}" for i, word in enumerate(words))
    return "{ " + ", ".join(f"{values[word.name]}U" for word in words) + " }"


def _table(words: tuple[Word, ...], values: dict[str, int]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "value", "field", "as kept", "takes"):
        table.add_column(title, justify="right" if title in ("value", "as kept") else "left", no_wrap=True)
    for word in words:
        if word.name != "spare":
            takes = "fixed" if word.low == word.high else f"{word.low}..{word.high}"
            row = (word.quantity, told(word, values), word.name, str(values[word.name]), takes)
            table.add_row(*map(escape, row))
    return table
