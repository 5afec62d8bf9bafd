"""C that would make a compiler read files outside the folder, or is not C: refused before a compiler sees it."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
from decision.artefact.output import writing
from emulator import sources
from emulator.compile import compile_sources, find_compiler, toolchain
from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware
from emulator.profile import load_profile
from emulator.run import emulate
from emulator.sources import Sources, checked, read_sources

SPLICED = "_\\\r_asm__"  # a backslash, a lone carriage return: one word for clang, two for who reads lines

INNOCENT = [
    '#include "rlcc_policy.h"',
    "  #  include <stdint.h>  /* for uint32_t */",
    "#define RLCC_SLOT 0U /* the slot */",
    "#define TWO \\\n    { 1, 2 }",
    "#ifdef __cplusplus\n#endif",
    "#ifndef RLCC_X\n#else\n#endif",
    "#undef RLCC_X",
    "int half(int x);\n#define HALF(x) ((x) / 2)",
    'const char *a = "# 1";',
    "/* asm, #include, __attribute__, \\ and $ in a comment are words */",
    "/* over\nlines */ #define RLCC_X 1U",
]
GUILTY = [
    '#include "/etc/passwd"',
    '#include "../other/secret.h"',
    "#include </etc/passwd>",
    '  #  include "/etc/passwd"',
    '/* */ #include "/etc/passwd"',
    'const char *a = "/*";\n#include "/etc/passwd"\nconst char *b = "*/";',
    '#inc\\\nlude "/etc/passwd"',
    '#inc\\ \nlude "/etc/passwd"',
    '#include \\\n"/etc/passwd"',
    '%:include "/etc/passwd"',
    '??=include "/etc/passwd"',
    "#define WHERE </etc/passwd>\n#include WHERE",
    '#embed "/etc/passwd"',
    '#include_next "rlcc_policy.h"',
    '#import "/etc/passwd"',
    '#pragma GCC dependency "/etc/passwd"',
    '_Pragma("GCC dependency \\"/etc/passwd\\"")',
    '#include "student.json"',
    '#if __has_include("/etc/passwd")\n#endif',
    '__asm__(".incbin \\"/etc/passwd\\"");',
    'asm(".include \\"/etc/passwd\\"");',
    "#define AS a ## sm",
    # what a line is, and what a character
    f'{SPLICED}(".inc" "bin \\"/etc/hostname\\"");',
    '_\\\n_asm__(".incbin \\"/etc/hostname\\"");',
    'a\\\nsm(".incbin \\"/etc/hostname\\"");',
    "int x; /* *\\\n/ asm(); /* */",
    "int x; /* *\\ \t\n/ asm(); /* */",
    "int x; /* *??/\n/ asm(); /* */",
    'const char *a = "??/" asm() "";',
    "int a\rb;",
    "int a\fb;",
    "int a\vb;",
    "int a\0b;",
    "int a\x1ab;",
    "int a\u2028b;",
    "int a; /* \u202e */",
    "int \u0430sm;",
    "int \\u0061sm;",
    "int \\U00000061sm;",
    # other ways to spell a directive, a bracket, a name
    "%: define X 1",
    "int a<:4:>;",
    "void g(void) <% %>",
    "int a[4:>;",
    "void g(void) { %>",
    "??=define X 1",
    "#",
    "#define S(x) #x",
    "#define P(x) a##x",
    '#pragma GCC poison "x"',
    "#pragma GCC visibility push(hidden)",
    '_Pragma("once")',
    '#line 1 "/etc/passwd"',
    '# 1 "/etc/passwd"',
    '#error "x"',
    "#if 1\n#endif",
    "#ifdef X\n#elif __has_include(</etc/passwd>)\n#endif",
    "#ifdef __has_embed\n#endif",
    "#include <stdio.h>",
    "#include <../../etc/passwd>",
    '#include "sub/x.h"',
    '#include "./rlcc_policy.h"',
    '#include "x.h',
    "#define __asm x",
    "#define A /* \n */ x # y",
    # assembly and what leads to an assembler
    'register int sp asm("sp");',
    'register int sp __asm("sp");',
    'int f(void) __asm__("x");',
    '__attribute__((section("x,\\"a\\"\\n.incbin"))) int x;',
    '[[gnu::section("x")]] int x;',
    "int x = __builtin_clz(1);",
    "const char *where = __FILE__;",
    "_Static_assert(1, 1);",
    'const char *a = "\\n";',
    "int a = 'x';",
    "int a; // a comment\\\nof two lines",
    "int a; // a comment",
    "int a; /* no end",
    'const char *a = "no end;',
    "int a$b;",
    "int a@b;",
    "int a`b;",
]


@pytest.fixture
def firmware(firmware_folder: Callable[..., Path]) -> Firmware:
    return read_firmware(firmware_folder())


@pytest.mark.parametrize("line", INNOCENT)
def test_what_is_emitted_is_read(line: str, firmware_folder: Callable[..., Path], policy_source: str) -> None:
    firmware = read_firmware(firmware_folder(policy=f"{policy_source}{line}\n"))
    assert set(firmware.sources.texts) == {"rlcc_policy.c", "rlcc_policy.h"}
    assert firmware.sources.text == f"{policy_source}{line}\n"


@pytest.mark.parametrize("line", GUILTY)
@pytest.mark.parametrize("file", ["policy", "header"])
def test_what_reaches_out_of_the_folder_is_refused(
    file: str, line: str, firmware_folder: Callable[..., Path], policy_source: str, header_source: str
) -> None:
    texts = {"policy": policy_source, "header": header_source}
    folder = firmware_folder(**{file: f"{texts[file]}{line}\n"})
    with pytest.raises(InputError, match=r"rlcc never emits|folder's manifest") as caught:
        read_firmware(folder)
    assert "rlcc_policy." in str(caught.value)
    assert str(caught.value).isprintable()


# A rule taken out of emulator/sources.py -> the text, what takes its place, and what then passes.
MUTANTS = {
    "any byte": (r'rb"[^\t\n -~]"', 'rb"(?!)"', "/* \r */"),
    "lines go on anywhere": (r'(r"(?<=[ \t])\\\n(?=[ \t])")', r'(r"\\\n")', "a\\\nsm();"),
    "lines go on in comments": (r"\?\?|\\[ \t]*\n", r"\?\?", "/* *\\\n/ asm(); /* */"),
    "lines go on behind blanks": (r"\\[ \t]*\n", r"\\\n", "/* *\\ \n/ asm(); /* */"),
    "trigraphs": (r"\?\?|", "", "/* *??/\n/ asm(); /* */"),
    "escapes in strings": (r'"[^"\\\n]*"', r'"[^"\n]*"', 'const char *a = "\\x00";'),
    "strings over lines": (r'"[^"\\\n]*"', r'"[^"\\]*"', '"\nasm("'),
    "digraphs": (r"<[:%]|[:%]>|%:|", "", "int a<:4:>;"),
    "attributes in brackets": (r"::|\[\[", "::", "[[gnu]] int a;"),
    "attributes' names": (r"::|\[\[", r"\[\[", "a::b"),
    "comments to the end of a line": ("/(?![/*])", "/(?![*])", "// /*\nasm(); // */"),
    "comments without an end": ("/(?![/*])", "/(?![/])", "/* no end"),
    "a backslash": (r"[ \t\n]+)", r"[ \\\t\n]+)", "int \\u0061sm;"),
    "a character": (r"[ \t\n]+)", r"[ '\t\n]+)", "'\"' asm() '\"'"),
    "a dollar": (r"[ \t\n]+)", r"[ $\t\n]+)", "int a$b;"),
    "assembly": ('found == "asm"', "False", "asm();"),
    "the compiler's own words": ('found[0] == "_"', "False", "__asm__();"),
    "any directive": ("if read is None or", "if", '#pragma GCC dependency "/etc/passwd"'),
    "any header": (r"<stdint\.h>", "<.*>", "#include </etc/passwd>"),
    "any file": (r"\w+\.(?:c|h|inc)", "[^\"]+", '#include "/etc/passwd"'),
    "words pasted": (' or line.count("#") > 1', "", "#define A a ## sm"),
    "a comment before a directive": ("\" \" if kind == \"comment\"", "found if kind == \"comment\"",
                                     "/* */ #define A 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("rule", list(MUTANTS))
def test_without_a_rule_something_passes_that_is_refused(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, text = MUTANTS[rule]
    source = Path(sources.__file__).read_text()
    assert source.count(old) == 1
    weak = ModuleType("weak")
    monkeypatch.setitem(sys.modules, "weak", weak)  # where dataclasses look for it
    exec(source.replace(old, new), vars(weak))
    kept, loose = accepted(checked, text), accepted(weak.checked, text)
    assert (kept, loose) == ((True, False) if rule == "a comment before a directive" else (False, True))


def test_a_header_that_is_not_the_firmware_s_is_read_where_it_is_named_alone() -> None:
    text = b"#include <stddef.h>\n"
    for named in (frozenset[str](), frozenset(("stdint.h", "std.h", "doca_pcc_dev.h"))):
        with pytest.raises(InputError):
            checked(text, "x.c", named)
    assert checked(text, "x.c", frozenset(("stddef.h",))) == []
    with pytest.raises(InputError):
        checked(b"#include <../stddef.h>\n", "x.c", frozenset(("stddef.h",)))


def accepted(check: Callable[[bytes, str], list[str]], text: str) -> bool:
    try:
        check(text.encode(), "x.c")
    except InputError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("int a;\rint b;\f", r"the byte 0x0d"),
        ("\rint a;\f", r"the byte 0x0d"),
        ("int a;\n\f", r"the byte 0x0c"),
        ("a\\\nsm(); ??/ asm();", r"'\\\\'"),
        ("asm(); __b; #x", r"'asm'"),
        ("??/ asm();", r"'\?\?'"),
        ("int a;\nint $b c;\nint d;", r"'\$b c;'"),
    ],
)
def test_the_first_of_what_is_never_emitted_is_named(text: str, named: str) -> None:
    with pytest.raises(InputError, match=rf"x\.c .*{named}, .*never emits"):
        checked(text.encode(), "x.c")


def test_the_smuggled_assembly_is_assembly_for_a_compiler(tmp_path: Path) -> None:
    """What the refusals above are for: the pinned clang takes the two halves as one word, and reads the host's file."""
    secret = tmp_path / "secret"
    secret.write_text("a word of the host")
    source = tmp_path / "smuggled.c"
    source.write_bytes(f'{SPLICED}(".data\\n.inc" "bin \\"{secret}\\"");\n'.encode())
    tool = find_compiler("clang", "rv32im")
    subprocess.run([*tool.compile, "-c", source, "-o", tmp_path / "x.o"], check=True, capture_output=True)
    assert b"a word of the host" in (tmp_path / "x.o").read_bytes()
    with pytest.raises(InputError, match="the byte 0x0d"):
        checked(source.read_bytes(), "smuggled.c")


def test_the_pinned_clang_takes_no_assembly_even_unchecked(tmp_path: Path) -> None:
    """The second wall: were a word to slip through, the compiler itself refuses it."""
    unchecked = Sources(tmp_path, "x.c", {"x.c": f'{SPLICED}("nop");\n'.encode()})
    with pytest.raises(InputError, match=r"x\.c:1:1: error: .*inline assembly") as caught:
        compile_sources(unchecked, toolchain(load_profile("ibex-small")), folder=tmp_path)
    assert str(tmp_path / "sources") not in str(caught.value)


def test_a_compiler_gets_a_folder_that_holds_nothing_else(firmware: Firmware, tmp_path: Path) -> None:
    with firmware.sources.copied(tmp_path / "place") as source:
        assert source.name == "rlcc_policy.c"
        assert {p.name for p in source.parent.iterdir()} == {"rlcc_policy.c", "rlcc_policy.h"}


def test_what_was_checked_is_compiled_not_what_is_there_by_then(firmware: Firmware, tmp_path: Path) -> None:
    firmware.source.write_text("asm();")
    made = compile_sources(firmware.sources, toolchain("ibex-small"), folder=tmp_path)
    assert made.source == firmware.source


def test_a_file_that_changes_after_the_manifest_was_checked_is_not_read_again(
    firmware_folder: Callable[..., Path],
) -> None:
    artefact = opened(firmware_folder(), "firmware")
    (artefact.folder / "rlcc_policy.h").write_text("typedef int uint32_t;\n")
    texts = read_sources(artefact, "rlcc_policy.c").texts
    assert {name: sha256(content) for name, content in texts.items()} == {name: artefact.files[name] for name in texts}


def test_a_header_of_the_folder_may_be_included_and_one_beside_it_may_not(tmp_path: Path) -> None:
    with writing(tmp_path / "a", "firmware") as folder:
        (folder / "x.c").write_text('#include "one.h"\n#include "three.c"\n')
        (folder / "one.h").write_text('#include "two.inc"\n#include "one.h"\n')
        (folder / "two.inc").write_text("typedef int two;\n")
        (folder / "three.c").write_text("typedef int three;\n")
    artefact = opened(tmp_path / "a", "firmware")
    assert set(read_sources(artefact, "x.c").texts) == {"x.c", "one.h", "two.inc", "three.c"}
    rest = replace(artefact, files={name: sha for name, sha in artefact.files.items() if name != "two.inc"})
    with pytest.raises(InputError, match=r"two\.inc, .*folder's manifest"):
        read_sources(rest, "x.c")


PLACES = (("inner/", "x.c"), ("inner/", "one.h"), ("", "two.h"))


def test_a_file_in_a_folder_of_its_own_includes_what_is_next_to_it_or_above(tmp_path: Path) -> None:
    with writing(tmp_path / "a", "firmware") as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "x.c").write_text('#include "one.h"\n#include "two.h"\n')
        (folder / "inner" / "one.h").write_text("typedef int one;\n")
        (folder / "two.h").write_text("typedef int two;\n")
    artefact = opened(tmp_path / "a", "firmware")
    found = read_sources(artefact, "inner/x.c")
    assert (found.folder, found.main) == (artefact.folder / "inner", "x.c")
    assert found.texts == {name: artefact.contents[f"{at}{name}"] for at, name in PLACES}
    twice = replace(artefact, files={**artefact.files, "one.h": artefact.files["inner/one.h"]})
    with pytest.raises(InputError, match=r"one\.h, which is twice"):
        read_sources(twice, "inner/x.c")


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_an_error_of_the_compiler_names_the_users_folder(
    compiler: str, firmware_folder: Callable[..., Path], policy_source: str
) -> None:
    folder = firmware_folder(policy=policy_source.replace("inflation > 3U", "inflatoin > 3U"))
    with pytest.raises(InputError, match="inflatoin") as caught:
        emulate(folder, profile="ibex-small", compiler=compiler)
    assert str(folder / "rlcc_policy.c") in str(caught.value)
    assert "/sources/" not in str(caught.value)


PIECES = [
    *("asm", "_", "__asm__", "a", "sm", "#", "include", '"x.h"', "define", "X", "1", "e", "+", "(", ")", "."),
    *("\\", "\n", "\r", " ", "\t", "\v", "/*", "*/", "*", "/", "//", '"', "'", "??/", "??=", "%:"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_passes_holds_no_assembly_and_no_directive_for_the_compilers_own_lexer(text: str) -> None:
    """Drawn from the pieces of every trick above by a lexer that works otherwise."""
    try:
        checked(text.encode(), "x.c")
    except InputError:
        return
    assert not {"asm", "__asm__", "_"} & set(words(text))


def words(text: str) -> list[str]:
    """The C's words by the phases of translation of C99 5.1.1.2, taken one after the other over the whole text."""
    for trigraph, character in (("??/", "\\"), ("??=", "#")):
        text = text.replace(trigraph, character)
    text = text.replace("\\\n", "").replace("\\\r", "")
    found, at = [], 0
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at + 2) + 2
        elif text[at] in "\"'":
            at = text.index(text[at], at + 1) + 1
        elif text[at].isalnum() or text[at] == "_":
            end = next((n for n in range(at, len(text)) if not (text[n].isalnum() or text[n] == "_")), len(text))
            found.append(text[at:end])
            at = end
        else:
            at += 1
    return found
