"""Every command that a page shows is run: the ```sh and ```console blocks of README, docs/ and fixtures/, in their
order and as they stand, a page in a folder of its own. There lie `fixtures`, `recipes`, what `rlcc run` leaves in
`runs/`, and `teacher`, `firmware`, `certificate` and `reference` of somebody who keeps a firmware (docs/how-to/ci.md).

By default the runs are those of students of two trees, and what takes over five seconds is left out; `-m slow` makes
the run of recipes/rl-cc.toml and runs everything but what doc_commands.toml excuses, with its reason. A command must
end with 0, or with what `echo $?` behind it shows.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from decision.artefact import output
from decision.ir.forest import Forest, oblivious
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc import cli
from teachers.load import load

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for pages in ("README.md", "docs/*.md", "docs/*/*.md", "fixtures/*/README.md")
    for path in sorted(ROOT.glob(pages))
}
LISTED = tomllib.loads(Path(__file__).with_name("doc_commands.toml").read_text())
PROGRAMS = ("rlcc", "make", "python", "pip", "cp", "cd", "cc", "cppcheck", "git", "uv", "ray", "export")
COPIED = (
    "your-own-policy",
    "bring-your-own",
    "dpa-forest",
    "other-libraries",
    "example-firmware",
    "example-engine",
    "example-switch",
    "example-host",
    "window",
)


@dataclass(frozen=True)
class Command:
    """A line of a page's shell block, without its comment; ``code`` is what it exits with."""

    line: int
    text: str
    code: int = 0

    def parts(self) -> list[list[str]]:
        """Words of the programs that && joins."""
        parts: list[list[str]] = [[]]
        for word in shlex.split(self.text):
            if word == "&&":
                parts.append([])
            else:
                parts[-1].append(word)
        return parts


def commands(text: str) -> list[Command]:
    """What the shell blocks of a page hold, in their order. Of a console only what stands behind a prompt."""
    made: list[Command] = []
    block, pending, start, asked = "", "", 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            block = "" if block else line.removeprefix("```") or "text"
        elif block in ("sh", "console"):
            if asked:
                made[-1] = Command(made[-1].line, made[-1].text, int(line))
            asked = line == "$ echo $?"
            prompted = block == "sh" or line.startswith("$ ") or pending
            if asked or not prompted:
                continue
            pending, start = pending + line.removeprefix("$ "), start if pending else number
            if pending.endswith("\\"):
                pending = pending.removesuffix("\\")
            else:
                said = re.sub(r"(^|\s+)#.*", "", pending).strip()
                made += [Command(start, said)] if said else []
                pending = ""
    return made


def listed(page: str, command: Command, lists: tuple[str, ...]) -> bool:
    entries = [entry for name in lists for entry in LISTED[name]]
    return any(entry["page"] == page and command.text.startswith(entry["begins"]) for entry in entries)


def run_all(page: str, folder: Path, wanted: Callable[[Command], bool]) -> int:
    """Run what is ``wanted`` of a page's commands as one shell would that starts in ``folder``; how many were run."""
    there, count = folder, 0
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands(PAGES[page]):
        if not wanted(command):
            continue
        code = 0
        for words in command.parts():
            if words[0] == "cd":
                there /= words[1]
            elif words[0] == "rlcc" and words[1] != "train":  # a training needs a process that has computed nothing
                os.chdir(there)
                code = cli.main(words[1:])
            else:
                code = subprocess.run(words, cwd=there, env={**os.environ, "PATH": path}, check=False).returncode
            if code:
                break
        assert code == command.code, f"{page}:{command.line}: {command.text}: exit code {code}"
        count += 1
    return count


# --- what the pages speak of --------------------------------------------------------------------------------------


def two_trees(teacher: Path, to: Path) -> None:
    """Save a student that was not distilled: two trees, over the first feature of its teacher and over the oldest."""
    of = load(teacher)
    names, policy = feature_names(of.policy.observation), of.policy
    outputs = len(getattr(policy.action, "rows", ())) or 1
    up, down = (tuple(sign * 40 * (k + 1) for k in range(outputs)) if outputs > 1 else sign * 900 for sign in (1, -1))
    trees = (oblivious(((0, 48_173),), (up, down)), oblivious(((len(names) - 1, 200),), (down, up)))
    forest = Forest(names, trees, (0,) * outputs, policy.action.leaf_bits)
    made = Student(policy.name, policy.header, forest, of.hash)
    with output.writing(to, "student", parents={"teacher": of.hash}) as work:
        made.save(work)


def classifier(path: Path) -> None:
    """The model of docs/how-to/models.md: 12 trees of depth 4 over three features, three classes."""
    import catboost
    import numpy

    drawn = numpy.random.default_rng(1)
    rows = numpy.stack([drawn.uniform(0, 8, 600), drawn.integers(0, 257, 600) / 256, drawn.integers(0, 9, 600)], axis=1)
    classes = numpy.where(rows[:, 0] > 3, "cut", numpy.where(rows[:, 1] > 0.5, "hold", "raise"))
    names = ["rtt_inflation", "rate", "nack_count"]
    pool = catboost.Pool(rows, classes, feature_names=names)
    catboost.CatBoostClassifier(iterations=12, depth=4, verbose=0, thread_count=1, allow_writing_files=False).fit(
        pool
    ).save_model(str(path))


def laid_out(folder: Path) -> Path:
    """The checkout's data, and nothing of ours yet."""
    for name in ("fixtures", "recipes", "bench", "tests"):
        (folder / name).symlink_to(ROOT / name)
    for name in COPIED:
        shutil.copytree(ROOT / "docs" / name, folder / "docs" / name)
    grid, wanted = (
        re.search(r"```toml\n(.*?)```", PAGES[page], re.DOTALL)
        for page in ("docs/how-to/models.md", "docs/reference/properties.md")
    )
    (folder / "grid.toml").write_text(grid[1] if grid else "")
    (folder / "wanted.toml").write_text(wanted[1] if wanted else "")
    classifier(folder / "model.cbm")
    return folder


def kept(folder: Path) -> Path:
    """What somebody keeps who ships the firmware of `runs/rl-cc`."""
    shutil.copytree(ROOT / "fixtures/teachers/rl-cc-mlp", folder / "teacher")
    for name in ("student", "firmware", "certificate"):
        shutil.copytree(folder / "runs/rl-cc" / name, folder / name)
    shutil.copy(folder / "certificate/certificate.json", folder)
    return folder


def emitted(folder: Path, name: str, target: str) -> None:
    run = folder / "runs" / name
    assert cli.main(["emit", str(run / "student"), "--target", target, "--out", str(run / "firmware")]) == 0


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = laid_out(tmp_path_factory.mktemp("small"))
    for name, teacher, target in (("rl-cc", "rl-cc-mlp", "connectx6dx"), ("acc", "acc", "bare")):
        two_trees(ROOT / "fixtures/teachers" / teacher, folder / "runs" / name / "student")
        emitted(folder, name, target)
    run = folder / "runs/rl-cc"
    proof = ["verify", str(run / "firmware"), "--out", str(run / "certificate/certificate.json")]
    assert cli.main(proof) == 0
    return kept(folder)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    folder = laid_out(tmp_path_factory.mktemp("real"))
    assert cli.main(["run", str(ROOT / "recipes/rl-cc.toml"), "--out", str(folder / "runs/rl-cc")]) == 0
    shutil.copytree(small / "runs/acc", folder / "runs/acc")
    (folder / "reference").mkdir()
    shutil.copy(folder / "runs/rl-cc/verdict/verdict.json", folder / "reference")
    return kept(folder)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """A page's own copy of what there is; afterwards the process is where it was."""
    before = Path.cwd()
    yield lambda there: Path(shutil.copytree(there, tmp_path / "place", symlinks=True))
    os.chdir(before)


# --- the tests ----------------------------------------------------------------------------------------------------


def pages(wanted: Callable[[str, Command], bool]) -> list[str]:
    return [page for page, text in PAGES.items() if any(wanted(page, command) for command in commands(text))]


def is_quick(page: str, command: Command) -> bool:
    return not listed(page, command, ("slow", "excused"))


@pytest.mark.parametrize("page", pages(is_quick))
def test_the_commands_of_a_page_run(page: str, small: Path, place: Callable[[Path], Path]) -> None:
    assert run_all(page, place(small), lambda command: is_quick(page, command))


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(lambda page, command: listed(page, command, ("slow",))))
def test_the_commands_of_a_page_run_on_what_the_recipe_left(
    page: str, real: Path, place: Callable[[Path], Path]
) -> None:
    assert run_all(page, place(real), lambda command: not listed(page, command, ("excused",)))


@pytest.mark.parametrize("page", pages(lambda page, command: "rlcc" in command.text))
def test_options_that_a_page_gives_are_there(page: str) -> None:
    """Also of commands that are not run here."""
    for command in commands(PAGES[page]):
        for words in command.parts():
            if words[0] == "rlcc":
                known = cli.cli.get_command(click.Context(cli.cli), words[1])
                assert known, f"{page}:{command.line}: {command.text}"
                known.make_parser(click.Context(known)).parse_args(words[2:])


def test_what_is_left_out_is_there_and_says_why() -> None:
    for name, entries in LISTED.items():
        assert name in ("slow", "excused")
        for entry in entries:
            there = [c for c in commands(PAGES[entry["page"]]) if c.text.startswith(entry["begins"])]
            assert there, f"no such command: {entry}"
            assert name == "slow" or entry["why"]
            for test in re.findall(r"tests/[\w/]+(?:\.py)?", entry.get("why", "")):
                assert (ROOT / test).exists(), f"{entry['page']}: {test}"


ELSEWHERE = {"docs/how-to/environments.md": "tests/netsim/environments/test_environments.py"}
"""Guides without a command, and what runs their code."""


@pytest.mark.parametrize("page", [page for page in PAGES if re.match(r"docs/(?:tutorial|how-to)/(?!index)", page)])
def test_each_tutorial_and_guide_is_run(page: str) -> None:
    if page in ELSEWHERE:
        assert Path(page).name in (ROOT / ELSEWHERE[page]).read_text()
    else:
        assert commands(PAGES[page])


def hidden(text: str) -> list[str]:
    """Returns the commands of a page that no test runs: in an indented block, or in a block of plain text. A synopsis,
    with its [OPTIONS], is no command."""
    shells = re.compile(r"^```(?:sh|console)\n.*?^```", re.MULTILINE | re.DOTALL)
    fenced = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    rest = shells.sub("", text)
    plain = "".join(block for language, block in fenced.findall(rest) if language in ("", "text"))
    begins = rf"(?:\$ )?(?:{'|'.join(PROGRAMS)}) \S.*"
    found = re.findall(rf"^{begins}", plain, re.MULTILINE)
    found += re.findall(rf"^ {{4}}{begins}", fenced.sub("", rest), re.MULTILINE)
    return [command for command in found if "[OPTIONS]" not in command]


@pytest.mark.parametrize("page", list(PAGES))
def test_no_command_hides_in_a_block_that_is_not_run(page: str) -> None:
    assert not hidden(PAGES[page]), "fence it as ```sh, or as ```console where it is shown with what it prints"


def test_a_command_in_a_block_of_text_is_seen() -> None:
    assert hidden("```text\nrlcc gate firmware --quick\n```\n") == ["rlcc gate firmware --quick"]
    assert hidden("Text\n\n    $ rlcc gate firmware\n") == ["    $ rlcc gate firmware"]
    assert not hidden("```sh\nrlcc gate firmware\n```\n\n```text\nrlcc gate [OPTIONS] FIRMWARE\n```\n")


def test_a_command_that_ends_otherwise_than_shown_is_seen(
    tmp_path: Path, place: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "```sh\nrlcc gate nowhere --budget 1us  # no such folder\n```\n"
    monkeypatch.setitem(PAGES, "page", text)
    with pytest.raises(AssertionError, match=r"page:2: .*exit code 2"):
        run_all("page", tmp_path, lambda command: True)
    monkeypatch.setitem(PAGES, "page", "```console\n$ rlcc gate nowhere --budget \\\n    1us\nno\n$ echo $?\n2\n```\n")
    assert run_all("page", tmp_path, lambda command: True) == 1
