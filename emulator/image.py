"""Several firmwares in one image, as a device holds an A/B pair or a policy of each of its agents."""

from collections.abc import Sequence
from dataclasses import replace

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.build import Build, build, linked_image
from emulator.compile import Toolchain, compile_sources, link_program
from emulator.firmware import ENTRY, Firmware


def build_image(firmwares: Sequence[Firmware], tools: Toolchain) -> list[Build]:
    """Compiles several firmwares, links them into one image, and returns a build of each with that image.

    Facts about the object code are each policy's own. Raises InputError also if two have one prefix, or one
    cannot be linked."""
    prefixes = [firmware.prefix for firmware in firmwares]
    if twice := [prefix for prefix in prefixes if prefixes.count(prefix) > 1]:
        raise InputError(f"two firmwares have the prefix {twice[0]}; emit one of them with another --prefix")
    builds = [build(firmware, tools) for firmware in firmwares]
    for one in builds:
        one.image  # noqa: B018 - raises where it cannot be linked
    entries = [firmware.named(ENTRY) for firmware in firmwares]
    with temporary.folder() as folder:
        policies = []
        for firmware in firmwares:
            (folder / firmware.prefix).mkdir()
            policies.append(compile_sources(firmware.sources, tools, folder=folder / firmware.prefix))
        objects = {entry: policy.path for entry, policy in zip(entries, policies, strict=True)}
        images = [
            linked_image(link_program(policy, entry, tools.profile, folder, objects), entry)
            for entry, policy in zip(entries, policies, strict=True)
        ]
    return [replace(one, linked=image) for one, image in zip(builds, images, strict=True)]
