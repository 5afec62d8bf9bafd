"""`rlcc verify FIRMWARE --adapter`: prove the device's adapter around the decision for all inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from rlcc.gate.adapters import PROFILE
from rlcc.recipe import EmulateOptions

if TYPE_CHECKING:
    from emulator.compile import Toolchain
    from emulator.firmware import Firmware
    from verify.adapter.transition import ProvedDevice


def prove(opened: Opened, chosen: Mapping[str, str | None]) -> int:
    """Prints what is proved of each adapter, and an event for which it is wrong. Returns the exit code."""
    from emulator.firmware_folder import read_firmware
    from verify.adapter.prove import DEVICES, devices_of

    options = validate(EmulateOptions, {"profile": PROFILE, **given(dict(chosen))}, "options of rlcc verify")
    tools = options.toolchain()
    firmware = read_firmware(opened)
    devices = devices_of(firmware)
    if not devices:
        *others, last = (device.target for device in DEVICES)
        known = f"{', '.join(others)} or {last}"
        target = opened.details.get("target")
        raise InputError(f"{opened.folder} was emitted for {target}, whose adapter has no proof; emit it for {known}")
    codes = [_prove(firmware, device, tools, f"{options.compiler} {options.optimise}") for device in devices]
    return max(codes)


def _prove(firmware: Firmware, device: ProvedDevice, tools: Toolchain, compiler: str) -> int:
    from verify.adapter.prove import prove

    with stage("verify") as (figures, progress):
        progress(f"proving the adapter for {device.target}")
        proof = prove(firmware, device, tools)
        figures |= {
            "adapter": f"{proof.device}, {proof.path}, entry {' and '.join(proof.entries)}",
            "engine": tools.profile.label(),
            "compiler": compiler,
            "verdict": f"{proof.verdict}{'' if proof.proved else f': {proof.text}'}",
            "outputs": f"{proof.outputs} shown to be as specified",
            "calls": f"{proof.calls} of functions that are not in the adapter",
            "questions": f"{proof.questions} to bitwuzla",
        }
    if proof.example:
        click.echo(f"input: {proof.shown}")
    return 0 if proof.proved else 1
