"""`rlcc gate`: is this firmware inside its budget, equal to the model, and as good as its teacher in the network?

Checks, in order: bit-equality (NumPy meaning = C on the host by every compiler there is, with the undefined-behaviour
sanitizer = C on the core), object code, cycles against the budget, closed loop against the teacher.
"""

from collections.abc import Callable
from pathlib import Path

from emulator import EmulationReport, HostReport, emulate, host_compilers, load_profile, run_on_host
from emulator.compile import check_optimisation, find_compiler
from emulator.firmware import PROGRAM
from rlcc import closed_loop
from rlcc.closed_loop import Entry, Outcome
from rlcc.policies import by_path
from rlcc.recipe import EmulateOptions, GateOptions, Tolerance
from rlcc.verdict import Check, Verdict
from spec.documents import load_json
from spec.errors import InputError
from spec.manifest import opened
from spec.program import Program
from spec.student import NAME as STUDENT_NAME
from spec.student import load_student

Progress = Callable[[str], None]
US_PS = 1_000_000


def judge(
    firmware: Path, teacher: Path, engine: EmulateOptions, options: GateOptions, progress: Progress | None = None
) -> Verdict:
    """Run all checks. What is wrong with the firmware is in the verdict; what keeps it from being judged is an
    InputError (edited folder, another teacher, missing compiler)."""
    manifest = opened(firmware, "firmware")
    _check_program(firmware)
    check_engine(engine)
    with by_path(teacher) as master:
        if master.kind != "teacher":
            raise InputError(f"{teacher} is a {master.kind}, not the teacher that {firmware} is to be compared with")
        if manifest.parents.get("teacher") != master.hash:
            raise InputError(f"{firmware} was distilled from another teacher than {teacher}; give the one it came from")

        say = progress or (lambda _: None)
        hosts = []
        for compiler in host_compilers():
            say(f"vectors on the host, {compiler}")
            hosts.append(run_on_host(firmware, compiler=compiler))
        say("vectors on the core")
        report = emulate(
            firmware, profile=engine.profile, compiler=engine.compiler, opt=engine.optimise, progress=progress
        )
        checks = [*equality(hosts, report), *object_code(report), *budget(report, options.budget)]
        outcomes: list[Outcome] = []
        if all(check.passed for check in checks if check.group == "equality"):
            with by_path(firmware) as student:
                # Both decide as late as the student does on the core: their decisions are compared, not their speeds.
                latency = decision_latency_ps(report)
                entries = [Entry("teacher", master.policy, latency), Entry("student", student.policy, latency)]
                outcomes = closed_loop.run(
                    entries,
                    options.scenarios,
                    options.seeds,
                    duration_ps=options.duration,
                    window_ps=options.window,
                    progress=progress,
                )
            checks += network(outcomes, options)
        return Verdict(
            policy=str(manifest.details.get("policy", "")),
            firmware=manifest.hash,
            student=manifest.parents.get("student", ""),
            teacher=master.hash,
            profile=report.profile,
            checks=checks,
            measured={
                "emulation": report.to_json(),
                "network": [outcome.to_json() for outcome in outcomes],
            },
        )


def check_engine(engine: EmulateOptions) -> None:
    """InputError where the engine profile or its compiler is not there, before anything slow begins."""
    find_compiler(engine.compiler, load_profile(engine.profile).core.isa)
    check_optimisation(engine.optimise)


def _check_program(firmware: Path) -> None:
    """The program that the vectors are held to must be the student's whole decision."""
    program = Program.from_json(load_json(firmware / PROGRAM))
    if program != load_student(firmware / STUDENT_NAME).program():
        raise InputError(
            f"{firmware / PROGRAM} is not the program of {STUDENT_NAME} beside it; emit the firmware again"
        )


def equality(hosts: list[HostReport], report: EmulationReport) -> list[Check]:
    """Every vector on every back end against the program's NumPy meaning."""
    checks = []
    for host in hosts:
        checks.append(
            Check(
                group="equality",
                name=f"C on the host, {host.compiler}, sanitized",
                value=f"{host.mismatches} of {host.vectors} differ" + (f", {host.fault}" if host.fault else ""),
                limit="0 differ, no undefined behaviour",
                passed=host.passed,
                detail=host.first_mismatch or "",
            )
        )
    stopped = report.fault or (None if report.cycles else "did not run")
    checks.append(
        Check(
            group="equality",
            name=f"C on the core, {report.profile}, {report.compiler}",
            value=f"{report.mismatches} of {report.vectors} differ" + (f", {stopped}" if stopped else ""),
            limit="0 differ",
            passed=stopped is None and report.mismatches == 0,
            detail=report.first_mismatch or "",
        )
    )
    return checks


def object_code(report: EmulationReport) -> list[Check]:
    """No float, division, library call, static data; context and stack within the engine's limits."""
    found = "; ".join(report.forbidden) or "none"
    name = "nothing forbidden in the object code"
    return [Check(group="object code", name=name, value=found, limit="none", passed=not report.forbidden)]


def budget(report: EmulationReport, budget_ps: int) -> list[Check]:
    """The slowest vector on the core against the budget at the profile's clock."""
    if report.cycles is None:
        return [Check(group="budget", name="decision time", value="did not run", limit=_us(budget_ps), passed=False)]
    worst_ps = report.cycles.max * US_PS / report.clock_mhz
    slowest = f"slowest: vector {report.slowest.index} ({report.slowest.kind})" if report.slowest else ""
    return [
        Check(
            group="budget",
            name=f"decision time, measured maximum over {report.vectors} vectors",
            value=f"{report.cycles.max} cycles = {_us(worst_ps)}",
            limit=_us(budget_ps),
            passed=worst_ps <= budget_ps,
            detail=slowest,
        )
    ]


def network(outcomes: list[Outcome], options: GateOptions) -> list[Check]:
    """The student beside its teacher, scenario by scenario, in means over the seeds. NaN never passes."""
    checks: list[Check] = []
    if not outcomes:
        return [Check(group="network", name="closed loop", value="nothing ran", limit="a scenario", passed=False)]
    for teacher, student in zip(outcomes[::2], outcomes[1::2], strict=True):
        checks += _side_by_side(teacher, student, options.tolerance)
    return checks


def _side_by_side(teacher: Outcome, student: Outcome, allowed: Tolerance) -> list[Check]:
    def check(name: str, value: str, limit: str, passed: bool) -> Check:
        return Check(group="network", name=f"{teacher.scenario} {name}", value=value, limit=limit, passed=passed)

    mean = {name: student.mean(name) for name in ("goodput", "latency_mean_us", "jain", "loss")}
    more = {name: value - teacher.mean(name) for name, value in mean.items()}
    base = teacher.mean("latency_mean_us")
    latency = more["latency_mean_us"] / base if base > 0 else float("inf")
    shown = {name: f"{mean[name]:.4f} ({more[name]:+.4f})" for name in mean}
    slower = f"{mean['latency_mean_us']:.2f} us ({latency:+.2%})"
    return [
        check("goodput", shown["goodput"], f"±{allowed.goodput:g}", abs(more["goodput"]) <= allowed.goodput),
        check("mean latency", slower, f"±{allowed.latency:.1%}", abs(latency) <= allowed.latency),
        check("Jain fairness", shown["jain"], f"-{allowed.fairness:g}", more["jain"] >= -allowed.fairness),
        check("loss", shown["loss"], f"+{allowed.loss:g}", more["loss"] <= allowed.loss),
    ]


def decision_latency_ps(report: EmulationReport) -> int:
    """What a decision takes on the engine on average, in ps."""
    if report.cycles is None:
        raise InputError("the firmware did not run on the core, so its decision time is not known")
    return round(report.cycles.mean * US_PS / report.clock_mhz)


def _us(ps: float) -> str:
    return f"{ps / US_PS:.3f} us"
