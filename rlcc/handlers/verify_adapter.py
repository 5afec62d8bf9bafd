"""`rlcc verify FIRMWARE --adapter`: prove the device's adapter around the decision for all inputs."""

from __future__ import annotations

from collections.abc import Mapping

import click

from decision.artefact.documents import validate
from decision.artefact.manifest import Opened
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from rlcc.recipe import EmulateOptions

PROFILE = "bluefield3-proxy"


def prove(firmware: Opened, chosen: Mapping[str, str | None]) -> int:
    """Prints what is proved of an adapter, and an event for which it is wrong. Returns the exit code."""
    from emulator.firmware_folder import read_firmware
    from verify.adapter.prove import prove

    options = validate(EmulateOptions, {"profile": PROFILE, **given(dict(chosen))}, "options of rlcc verify")
    tools = options.toolchain()
    with stage("verify") as (figures, progress):
        progress("proving the adapter")
        proof = prove(read_firmware(firmware), tools)
        figures |= {
            "adapter": f"{proof.device}, entry {proof.entry}",
            "engine": tools.profile.label(),
            "compiler": f"{options.compiler} {options.optimise}",
            "verdict": f"{proof.verdict}{'' if proof.proved else f': {proof.text}'}",
            "outputs": f"{proof.outputs} shown to be as specified",
            "calls": f"{proof.calls} of functions that are not in the adapter",
            "questions": f"{proof.questions} to bitwuzla",
        }
    if proof.example:
        click.echo(f"input: {' '.join(f'{name}={value:#x}' for name, value in proof.example.items())}")
    return 0 if proof.proved else 1
