"""A third opinion, kept: what the checker's solver finds impossible is proved again by cvc5, step by step, in Alethe.

An archive has two files a question, NUMBER.smt2 and NUMBER.alethe: what a checker of that format takes. A reader needs
to believe no solver, only that the questions are the right ones.
"""

import re
import zipfile
import zlib
from io import BytesIO

import cvc5

from verify.check.solver import answer_of_cvc5

OPTIONS = {
    "produce-proofs": "true",
    "proof-format-mode": "alethe",
    "proof-granularity": "dsl-rewrite",  # rewriting by rules that have names
    "simplification": "none",  # what is simplified beforehand has no steps
}
OPEN = re.compile(rb":rule (?:hole|trust)\b")
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file in an archive: the same proofs are the same bytes."""


class Contradiction(Exception):
    """Two solvers say the opposite of one question, so that one of them is wrong."""


class Proofs:
    """``count``: questions proved. ``open_steps``: steps that give no reason a checker could look at."""

    def __init__(self) -> None:
        self.count = self.open_steps = 0
        self._files: dict[str, bytes] = {}

    def add(self, script: str) -> None:
        """Prove that a question that was found impossible is so. Undecided where cvc5 does not end in its time;
        Contradiction where it finds values that satisfy it."""
        solver = cvc5.Solver()
        for name, value in OPTIONS.items():
            solver.setOption(name, value)
        if answer_of_cvc5(solver, script) != "unsat":
            raise Contradiction(f"cvc5 satisfies a question that the other solver found impossible: {script[-200:]}")
        proof = solver.proofToString(solver.getProof()[0], cvc5.ProofFormat.ALETHE)
        self.open_steps += len(OPEN.findall(proof))
        self.count += 1
        for suffix, content in (("smt2", f"{script}\n(check-sat)\n".encode()), ("alethe", proof)):
            self._files[f"{self.count:05d}.{suffix}"] = zlib.compress(content)  # a proof is a tenth of its text

    def archive(self) -> bytes:
        """The zip file."""
        content = BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in self._files.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), zlib.decompress(text), zipfile.ZIP_DEFLATED)
        return content.getvalue()
