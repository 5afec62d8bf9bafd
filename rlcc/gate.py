"""`rlcc gate`: is this firmware inside its budget, equal to the model, and as good as its teacher in the network?

Checks, in order: bit-equality (NumPy meaning = C on the host by every compiler there is, with the undefined-behaviour
sanitizer = C on the core), object code, the certificate of the proof,
cycles against the budget, closed loop against the teacher.
"""

from collections.abc import Callable
from pathlib import Path

from codegen.emit import differences, emission_of, program_of
from emulator import EmulationReport, emulate, host_compilers, load_profile, run_on_host
from emulator.compile import check_optimisation, find_compiler
from emulator.firmware import PROGRAM, tree_inputs
from rlcc import closed_loop
from rlcc.certified import beside, certified
from rlcc.checks import US_PS, as_emitted, budget, coverage, equality, network, object_code
from rlcc.closed_loop import Entry, Outcome
from rlcc.policies import by_path
from rlcc.recipe import EmulateOptions, GateOptions
from rlcc.verdict import Verdict
from spec.documents import load_json
from spec.errors import InputError
from spec.manifest import opened
from spec.program import Program
from spec.student import NAME as STUDENT_NAME
from spec.student import load_student

Progress = Callable[[str], None]


def judge(
    firmware: Path,
    teacher: Path,
    engine: EmulateOptions,
    options: GateOptions,
    progress: Progress | None = None,
    *,
    certificate: Path | None = None,
) -> Verdict:
    """Run all checks. ``certificate``: of the firmware's proof; by default the one beside it.

    What is wrong with the firmware is in the verdict; what keeps it from being judged is an InputError (edited folder,
    another teacher, missing compiler)."""
    manifest = opened(firmware, "firmware")
    program = _checked_program(firmware)
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
        covered = [*as_emitted(differences(firmware)), *coverage(program, tree_inputs(firmware))]
        say("certificate")
        proof = certified(firmware, certificate or beside(firmware), engine, progress)
        checks = [*equality(hosts, report), *covered, *object_code(report), proof.check]
        checks += budget(report, options.budget, proof.worst_cycles)
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
                "certificate": proof.certificate.hash if proof.certificate else None,
                "worst_case_cycles": proof.worst_cycles,
                "network": [outcome.to_json() for outcome in outcomes],
            },
        )


def check_engine(engine: EmulateOptions) -> None:
    """InputError where the engine profile or its compiler is not there, before anything slow begins."""
    find_compiler(engine.compiler, load_profile(engine.profile).core.isa)
    check_optimisation(engine.optimise)


def _checked_program(firmware: Path) -> Program:
    """The program that the vectors are held to; it must be the student's whole decision."""
    program = Program.from_json(load_json(firmware / PROGRAM))
    if program != program_of(load_student(firmware / STUDENT_NAME), emission_of(firmware).fix):
        raise InputError(
            f"{firmware / PROGRAM} is not the program of {STUDENT_NAME} beside it; emit the firmware again"
        )
    return program


def decision_latency_ps(report: EmulationReport) -> int:
    """What a decision takes on the engine on average, in ps."""
    if report.cycles is None:
        raise InputError("the firmware did not run on the core, so its decision time is not known")
    return round(report.cycles.mean * US_PS / report.clock_mhz)
