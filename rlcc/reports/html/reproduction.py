"""How a verdict is made again: commands, seeds, hashes, versions. No path of a machine stands in it."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from decision.artefact.manifest import Manifest
from rlcc import __version__
from rlcc.gate.verdict import Verdict
from rlcc.recipe import EmulateOptions, GateOptions

US_PS = 1_000_000


@dataclass(frozen=True)
class Again:
    """``commands`` as they are typed; ``facts``: name and value, by what they are about."""

    commands: tuple[str, ...]
    facts: Mapping[str, Mapping[str, str]]


def again(
    verdict: Verdict, firmware: Manifest, engine: EmulateOptions, options: GateOptions, recipe: str | None
) -> Again:
    """``recipe``: the name of its file, where there was one."""
    quick = " --quick" if verdict.quick else ""
    simulated = "network" in verdict.measured or (bool(verdict.teacher) and not verdict.not_judged)
    if recipe is not None:
        file = shlex.quote(recipe)
        commands = [f"rlcc run {file}", f"rlcc gate firmware --recipe {file}{quick}"]
    else:
        teacher = " --teacher teacher" if verdict.teacher and not verdict.reasons else ""
        asked = [f"--profile {engine.profile} --compiler {engine.compiler} --optimise={engine.optimise}"]
        asked += [f'--budget "{options.budget / US_PS:g} us"']
        asked += [] if options.proof else ["--no-certificate"]
        proved = options.neighbourhood.proof or not verdict.teacher or verdict.not_judged
        asked += [] if proved else ["--no-distance-proof"]
        asked += [f"--scenario {shlex.quote(name)}" for name in options.scenarios if simulated]
        asked += [f"--seed {seed}" for seed in options.seeds if simulated]
        asked += [f"--require {shlex.quote(one.text())}" for one in options.require if simulated]
        asked += _limits(options)
        commands = [f"rlcc gate firmware{teacher} {' '.join(asked)}{quick}"]
    hashes = {"firmware": verdict.firmware, "student": verdict.student, "teacher": verdict.teacher}
    certificate = verdict.measured.get("certificate")
    if certificate:
        hashes["certificate"] = certificate
    emulation = verdict.measured.get("emulation") or {}
    if emulation:
        hashes["engine profile"] = emulation["profile_hash"]
    made = {"rlcc": __version__, **firmware.tools}
    if emulation:
        made[emulation["compiler"]] = f"{emulation['compiler_version']} {emulation['opt']}"
    begin, end = options.window
    judged = {
        "engine": verdict.profile,
        "seeds": ", ".join(map(str, options.seeds)),
        "held-out rollouts": f"seed {options.match.seed}, {_ms(options.match.duration)} each",
        "networks": f"{_ms(options.duration)} each, measured from {_ms(begin)} to {_ms(end)}",
    }
    if firmware.seed is not None:
        judged["seed of the emission"] = str(firmware.seed)
    if not simulated:
        judged = {"engine": verdict.profile}
    elif not verdict.teacher:
        del judged["held-out rollouts"]
    return Again(
        tuple(commands),
        {"hashes": {name: hash for name, hash in hashes.items() if hash}, "judged with": judged, "versions": made},
    )


def _limits(options: GateOptions) -> list[str]:
    """Returns the limits besides the budget that differ from the default: no less is demanded again."""
    around, usual = options.neighbourhood, GateOptions(budget=f"{options.budget} ps")  # type: ignore[arg-type]
    shares = [
        ("--around", around.share, usual.neighbourhood.share),
        ("--margin", options.margin, usual.margin),
    ]
    numbers = [
        ("--max-outside", around.limit, usual.neighbourhood.limit),
        ("--around-action", around.action, usual.neighbourhood.action),
        *((f"--max-{name}", size, None) for name, size in options.sizes),
    ]
    flags = [("--no-certificate", not options.proof), ("--run-on-host", options.run_on_host)]
    paths = () if options.linux is None else options.linux.paths
    return [
        *(f'{option} "{100 * value:.12g} %"' for option, value, default in shares if value != default),
        *(f"{option} {value:.12g}" for option, value, default in numbers if value != default),
        *(option for option, on in flags if on),
        *(f"--linux {shlex.quote(path)}" for path in paths),
    ]


def _ms(ps: int) -> str:
    return f"{ps / 1e9:g} ms"
