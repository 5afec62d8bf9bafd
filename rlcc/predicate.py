"""The predicate of an attestation: what a certificate claims and of what, without the means to check it again."""

from typing import Any

from pydantic import Field

from decision.artefact.strict import Strict
from verify.trusted.certificate import Certificate, Claims, Engine, PropertyClaim, Subject
from verify.trusted.deviation import TeacherClaim


class Predicate(Strict):
    """``certificate``: the hash in certificate.json. The rest stands there word for word
    (verify/trusted/certificate.py)."""

    certificate: str
    subject: Subject
    engine: Engine
    claims: Claims
    assumptions: list[str]
    tools: dict[str, str]
    behaviour: list[PropertyClaim] = Field(default=[])
    teacher: TeacherClaim | None = None


def predicate_of(certificate: Certificate) -> Predicate:
    """The claims of a certificate."""
    claims = {name: getattr(certificate, name) for name in Predicate.model_fields if name != "certificate"}
    return Predicate(certificate=certificate.hash, **claims)


def schema() -> dict[str, Any]:
    """The JSON Schema of the predicate."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Predicate.model_json_schema()}
