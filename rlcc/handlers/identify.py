"""`rlcc identify IMAGE [FIRMWARE ...]`: which policies a firmware image holds."""

from collections import Counter
from pathlib import Path

import click

from decision.artefact.errors import InputError
from emulator.firmware_folder import read_firmware
from emulator.identity import Identity, identities, identity_of


def handle(image: Path, firmware: tuple[Path, ...]) -> None:
    found = identities(image)
    if not found:
        raise InputError(f"{image} holds no policy's identity; link rlcc_identity.c and call rlcc_policy_identity()")
    for one in found:
        click.echo(_line(one))
    distinct = dict.fromkeys((one.prefix, one.policy, one.layout) for one in found)
    prefix, count = Counter(prefix for prefix, _, _ in distinct).most_common(1)[0]
    if count > 1:
        raise InputError(f"{image} has {count} policies of the prefix {prefix}; emit all but one with another --prefix")
    for folder in firmware:
        _check(image, found, folder)


def _check(image: Path, found: list[Identity], folder: Path) -> None:
    wanted = identity_of(read_firmware(folder))
    here = next((one for one in found if one.prefix == wanted.prefix), None)
    if here is None:
        raise InputError(f"{image} has no policy of the prefix {wanted.prefix}, which {folder} has; link its files")
    for key, words in (("policy", "policy"), ("layout", "layout"), ("abi", "ABI")):
        there, own = getattr(here, key), getattr(wanted, key)
        if there != own:
            raise InputError(
                f"{image} has {words} {str(there)[:12]} under the prefix {wanted.prefix}, and {folder} has "
                f"{str(own)[:12]}; link the files of {folder} again"
            )


def _line(one: Identity) -> str:
    context = f"layout {one.layout}, {one.context_bytes} B of context"
    return f"{one.prefix}  policy {one.policy[:12]}  {one.name}  {context}  ABI {one.abi}  at {one.offset:#x}"
