"""Several firmwares in one image, as a device holds an A/B pair or a policy of each of its agents."""

from collections.abc import Sequence
from dataclasses import replace

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.build import Build, build_in, linked_image
from emulator.compile import PolicyObject, Toolchain, link_program
from emulator.firmware import ENTRY, Firmware


def build_image(firmwares: Sequence[Firmware], tools: Toolchain) -> list[Build]:
    """Compiles several firmwares, links them into one image, and returns a build of each with that image.

    Facts about the object code are each policy's own. Raises InputError also if two have one prefix, or one
    cannot be linked."""
    prefixes = [firmware.prefix for firmware in firmwares]
    if twice := [prefix for prefix in prefixes if prefixes.count(prefix) > 1]:
        raise InputError(f"two firmwares have the prefix {twice[0]}; emit one of them with another --prefix")
    builds, objects = list[Build](), dict[str, PolicyObject]()
    with temporary.folder() as folder:
        for firmware in firmwares:
            (place := folder / firmware.prefix).mkdir()
            one, policy = build_in(place, firmware, tools)
            one.image  # noqa: B018 - raises where it cannot be linked
            builds.append(one)
            objects[firmware.named(ENTRY)] = policy
        paths = {entry: policy.path for entry, policy in objects.items()}
        images = [
            linked_image(link_program(policy, entry, tools.profile, folder, paths), entry)
            for entry, policy in objects.items()
        ]
    return [replace(one, linked=image) for one, image in zip(builds, images, strict=True)]
