"""rlcc_monitor.h of a firmware: takes samples of what it is asked, on the device."""

from codegen.identity import prefixed
from codegen.lines import wrapped
from codegen.templates import environment
from decision.policy.deciders import load_pupil
from emulator.firmware import Firmware
from emulator.samples import sample_type
from rlcc import __version__

HEADER = "common/rlcc_monitor.h.j2"


def header(firmware: Firmware) -> str:
    """Its text. It stands beside rlcc_policy.h, and is no part of the firmware."""
    interface = firmware.program.interface
    text = (
        environment()
        .get_template(HEADER)
        .render(
            rlcc_version=__version__,
            name=load_pupil(firmware.manifest).name,
            hash=firmware.hash,
            agent=interface.agent if "context" in firmware.layouts else "",
            params="params" in firmware.layouts,
            sample_bytes=sample_type(firmware).itemsize,
        )
    )
    return wrapped(prefixed(text, firmware.prefix))
