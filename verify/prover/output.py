"""A certificate written to a file, with the solver's questions next to it."""

import gzip
import hashlib
import json
from pathlib import Path

from decision.artefact.documents import dump_json
from decision.artefact.output import write_atomically
from verify.trusted.certificate import Certificate


def write_certificate(certificate: Certificate, path: Path, queries: list[str]) -> None:
    """Writes the certificate and, next to it, the solver's questions."""
    texts = "\n".join(f"; {hashlib.sha256(text.encode()).hexdigest()}\n{text}" for text in queries)
    write_atomically(path.with_suffix(".queries.gz"), gzip.compress(texts.encode(), mtime=0))
    write_atomically(path, certificate_text(certificate))


def certificate_text(certificate: Certificate) -> str:
    """Returns the text of ``certificate.json``."""
    return dump_json(json.loads(json.dumps(certificate.model_dump(mode="json"), sort_keys=True)))
