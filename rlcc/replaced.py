"""Why an artefact that is made again has other bytes: the versions of what it was made with, where they changed."""

from contextlib import suppress
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import Manifest, opened


def standing(folder: Path, kind: str) -> Manifest | None:
    """Returns what stands in the folder, None where that is no whole artefact of the kind."""
    with suppress(InputError):
        return opened(folder, kind)
    return None


def other_versions(before: Manifest | None, now: Manifest) -> list[str]:
    """Returns one line that names each tool of another version, where the artefact replaces one of other bytes."""
    if before is None or before.hash == now.hash:
        return []
    tools = sorted(before.tools.keys() | now.tools.keys())
    changed = [
        f"{tool} {before.tools.get(tool, '(unnamed)')}, now {now.tools.get(tool, '(unnamed)')}"
        for tool in tools
        if before.tools.get(tool) != now.tools.get(tool)
    ]
    return [f"other bytes than the {now.kind} before, made with {'; '.join(changed)}"] if changed else []
