"""Which build this is: what tells two of them apart, and what does not."""

from dataclasses import fields, replace

from netsim.build import build


def test_builds_differ_by_what_decides_and_what_draws() -> None:
    known = build()
    assert known.agrees_with(known)
    for name in ("code", "numpy", "compiler"):
        assert not known.agrees_with(replace(known, **{name: "another"})), name
    assert {f.name for f in fields(known)} == {"code", "numpy", "compiler"}


def test_a_machine_without_the_compiler_does_what_needs_none() -> None:
    plain = replace(build(), compiler="")
    assert plain.agrees_with(build())
    assert build().agrees_with(plain)
    assert "ziglang" not in str(plain)
