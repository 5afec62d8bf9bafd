"""The self-test of many policies in one program: a mutant then costs a compiler's work on it, and no start of one."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess

Run = Callable[..., "CompletedProcess[str]"]
AT_FILE_SCOPE = r"^(?:\w+ )+\*?(\w+)(?:\(|\[| =)"
RUNNER = """\
extern __typeof__(rlcc_decide) *rlcc_mutant;
unsigned rlcc_selftest(unsigned *);
int printf(const char *, ...);
static __typeof__(rlcc_decide) *const mutants[] = {%s};
int main(void) {
  unsigned i, first;
  for (i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
    rlcc_mutant = mutants[i];
    printf("self-test %%d\\n", rlcc_selftest(&first) != 0U);
  }
  return 0;
}
"""


def passed(texts: Sequence[str], folder: Path, compiler: Sequence[str], run: Run) -> list[bool]:
    """For each text of rlcc_policy.c whether the self-test in ``folder``, beside its header and vectors, accepts it."""
    made, tested, binary = folder / "mutants.c", folder / "selftest.o", folder / "mutants.bin"
    if not tested.exists():
        renamed = ("-DRLCC_SELFTEST_BARE", "-Drlcc_decide=(*rlcc_mutant)")
        _succeed(run(*compiler, "-w", *renamed, "-c", folder / "rlcc_selftest.c", "-o", tested))
    names = ", ".join(f"rlcc_decide_{k}" for k in range(len(texts)))
    made.write_text("\n".join([*(_numbered(text, k) for k, text in enumerate(texts)), RUNNER % names]))
    _succeed(run(*compiler, "-w", f"-I{folder}", made, tested, "-o", binary))
    ran = run(binary)
    _succeed(ran)
    codes = [int(code) for code in re.findall(r"^self-test (\d+)$", ran.stdout, flags=re.MULTILINE)]
    assert len(codes) == len(texts)
    assert set(codes) <= {0, 1}
    return [code == 0 for code in codes]


def _numbered(text: str, k: int) -> str:
    """What the file defines, under names of its own."""
    names = set(re.findall(AT_FILE_SCOPE, text, flags=re.MULTILINE))
    assert "rlcc_decide" in names
    return re.sub(rf"\b(?:{'|'.join(sorted(names))})\b", lambda found: f"{found[0]}_{k}", text)


def _succeed(done: "CompletedProcess[str]") -> None:
    assert done.returncode == 0, done.stderr
