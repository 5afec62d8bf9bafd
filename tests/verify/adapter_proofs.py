"""Proofs of adapters with one place of their C changed."""

from dataclasses import replace
from functools import cache

from target_firmware import edited

from emulator.compile import Toolchain, find_gcc, toolchain
from emulator.firmware import Firmware
from verify.adapter.prove import AdapterProof, adapter_sources, devices_of, prove_sources

PROFILE = "bluefield3-proxy"
COMPILERS = ("clang", "gcc") if find_gcc() else ("clang",)


@cache
def tools(compiler: str = "clang", opt: str = "-O2") -> Toolchain:
    return toolchain(PROFILE, compiler, opt)


def proved(firmware: Firmware, *edits: tuple[str, str], compiler: str = "clang", opt: str = "-O2") -> AdapterProof:
    (device,) = devices_of(firmware)
    sources = adapter_sources(firmware, device)
    for old, new in edits:
        text = edited(sources.text, old, new)
        sources = replace(sources, texts={**sources.texts, sources.main: text.encode()})
    return prove_sources(firmware, device, sources, tools(compiler, opt))
