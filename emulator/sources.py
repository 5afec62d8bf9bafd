"""The C of a firmware as a compiler gets it: checked word by word, and copied into a folder that holds nothing else.

A compiler opens what C names and assembles what C quotes. It is therefore given less than C: only the characters, words
and preprocessor lines that occur in emitted C. Whatever else could spell a file's name or an instruction (assembly,
attributes, pasted words, a name from a macro, trigraphs, digraphs, a line that goes on where no reader sees it) has no
spelling in that subset. The checked bytes are the very bytes that are compiled: they are read once.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened

ODD = re.compile(rb"[^\t\n -~]")
"""All but printable ASCII, tabs and newlines: what ends a line for one reader ends it for all."""
SPLICE = re.compile(r"(?<=[ \t])\\\n(?=[ \t])")
"""A line that goes on, between blanks: it joins no two words, and begins or ends no comment."""
HIDDEN = re.compile(r"\?\?|\\[ \t]*\n")
"""Any other line that goes on, and trigraphs: these also begin and end comments and strings."""
PART = re.compile(
    r"(?P<comment>/\*(?s:.*?)\*/)"
    r'|(?P<string>"[^"\\\n]*")'
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<digraph><[:%]|[:%]>|%:|::|\[\[)"
    r"|(?P<other>[0-9][A-Za-z0-9]*|/(?![/*])|[-+*%&|^~!<>=?:;,.()\[\]{}#]|[ \t\n]+)"
)
"""``other``: an integer, a mark or blanks. What is no part (a backslash, a character constant, ``//``) is refused."""
DIRECTIVE = re.compile(
    r'[ \t]*#[ \t]*(?:include[ \t]+(?:"(?P<file>\w+\.(?:c|h|inc))"|<stdint\.h>)'
    r"|define[ \t]+[A-Za-z]\w*(?:[ \t(].*)?|ifn?def[ \t]+\w+|undef[ \t]+[A-Za-z]\w*|else|endif)[ \t]*",
    re.ASCII,
)
HEADER = re.compile(r"[ \t]*#[ \t]*include[ \t]+<(\w+\.h)>[ \t]*", re.ASCII)
RESERVED = frozenset(("__cplusplus", "__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__"))
"""Words that begin with an underscore are the compiler's own; emitted C asks what three of them say."""


@dataclass(frozen=True)
class Sources:
    """A C file and what it includes of its folder: name -> bytes, all checked."""

    folder: Path
    main: str
    texts: Mapping[str, bytes]

    @property
    def text(self) -> str:
        """The C file itself."""
        return self.texts[self.main].decode("ascii")

    @contextmanager
    def copied(self, place: Path) -> Iterator[Path]:
        """Write them into the new folder ``place``, which then holds nothing else; yields the C file's path there. An
        InputError names the folder that they are of."""
        place.mkdir()
        for name, content in self.texts.items():
            (place / name).write_bytes(content)
        try:
            yield place / self.main
        except InputError as error:
            raise InputError(str(error).replace(str(place), str(self.folder))) from None


def read_sources(artefact: Opened, main: str, headers: frozenset[str] = frozenset()) -> Sources:
    """The C file ``main`` of a folder with all that it includes, as they were hashed. ``headers``: those of a
    compiler or a device that it may name as well as <stdint.h>. A file that ``main``, in a folder of this one, includes
    is next to it, or of this folder, and not both.

    InputError where a file is not of the folder, or has what emitted C never has.
    """
    inner, _, first = main.rpartition("/")
    texts: dict[str, bytes] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name in texts:
            continue
        places = [f"{inner}/{name}", name] if inner else [name]
        paths = [path for path in places if path in artefact.files]
        if len(paths) != 1:
            found = "twice in the folder" if paths else "not in the folder's manifest"
            raise InputError(f"{artefact.folder / main} needs {name}, which is {found}; emit it again")
        (path,) = paths
        texts[name] = artefact.contents[path]
        waiting += checked(texts[name], str(artefact.folder / path), headers)
    return Sources(artefact.folder / inner, first, texts)


def checked(content: bytes, where: str, headers: frozenset[str] = frozenset()) -> list[str]:
    """The files that a C file includes, but for ``headers``; InputError where it has what emitted C never has."""
    if odd := ODD.search(content):
        raise InputError(f"{where} has the byte 0x{odd[0].hex()}, which rlcc never emits; emit the firmware again")
    text = SPLICE.sub("  ", content.decode("ascii"))
    strange = [found[0] for found in HIDDEN.finditer(text)]
    code, at = [], 0
    while at < len(text) and not strange:
        part = PART.match(text, at)
        found = part[0] if part else text[at : at + 40].splitlines()[0]
        kind = part.lastgroup if part else "digraph"
        own = found == "asm" or (found[0] == "_" and found not in RESERVED)  # which only a word is
        if kind == "digraph" or own:
            strange.append(found)
        # For a compiler a comment is a blank, also one that goes over lines, also before a #.
        code.append(" " if kind == "comment" else found.replace("#", "") if kind == "string" else found)
        at += len(found)
    lines = [line for line in "".join(code).split("\n") if "#" in line]
    lines = [line for line in lines if not ((named := HEADER.fullmatch(line)) and named[1] in headers)]
    directives = [DIRECTIVE.fullmatch(line) for line in lines]
    strange += [line for line, read in zip(lines, directives, strict=True) if read is None or line.count("#") > 1]
    if strange:
        raise InputError(f"{where} has {strange[0].strip()[:80]!r}, which rlcc never emits; emit the firmware again")
    return [read["file"] for read in directives if read and read["file"]]
