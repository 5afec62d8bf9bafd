"""Tables that others write: no unknown key, no infinity, nothing changed later."""

import pytest
from pydantic import ValidationError

from decision.artefact.strict import Strict


class _Table(Strict):
    share: float = 0.5


@pytest.mark.parametrize("table", [{"shares": 0.5}, {"share": float("inf")}, {"share": float("nan")}])
def test_what_is_no_key_and_what_is_no_number_are_refused(table: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        _Table.model_validate(table)


def test_a_table_stays_as_it_was_read() -> None:
    with pytest.raises(ValidationError):
        _Table().share = 0.25
