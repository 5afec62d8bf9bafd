"""The gate's check of each adapter: a new proof of its RV64 machine code, for every event of the device."""

from collections.abc import Callable

from emulator.firmware import Firmware
from rlcc.gate.names import named
from rlcc.gate.rv64 import outcome, runs_rv64
from rlcc.gate.verdict import Check
from rlcc.recipe import EmulateOptions

PROFILE = "bluefield3-proxy"
"""Engine of the proof if the gate's own does not run RV64."""


def proved_adapters(
    firmware: Firmware, engine: EmulateOptions, demanded: bool, progress: Callable[[str], None]
) -> list[Check]:
    """Returns the check of a new proof for each device that has a specification; none if the firmware has no adapter of
    such a device."""
    from verify.adapter.prove import devices_of, prove

    checks: list[Check] = []
    if not (devices := devices_of(firmware)):
        return checks
    tools = engine.toolchain()
    if not runs_rv64(tools.profile):
        tools = engine.model_copy(update={"profile": PROFILE}).toolchain()
    for device in devices:
        progress(f"proving the adapter for {device.target}")
        proof = prove(firmware, device, tools)
        value = f"proved, {proof.outputs} outputs" if proof.proved else proof.verdict
        checks.append(
            named("proof.adapter", of=device.target)(
                **outcome(value, proved=proof.proved, refuted=proof.verdict == "refuted", demanded=demanded),
                limit="as specified for every event, safe",
                detail="" if proof.proved else f"{proof.text} {proof.shown}".strip(),
                file=proof.path,
            )
        )
    return checks
