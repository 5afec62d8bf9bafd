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


def other_versions(before: Manifest | None, now: Manifest) -> dict[str, str]:
    """Returns "replaced" and the tools of other versions, if the artefact replaces one of other bytes; else nothing."""
    if before is None or before.hash == now.hash:
        return {}
    tools = sorted(before.tools.keys() | now.tools.keys())
    changed = [
        f"{tool} {before.tools.get(tool, '(unnamed)')}, now {now.tools.get(tool, '(unnamed)')}"
        for tool in tools
        if before.tools.get(tool) != now.tools.get(tool)
    ]
    return (
        {"replaced": f"the {now.kind} before has other bytes; it was built with {'; '.join(changed)}"}
        if changed
        else {}
    )
