"""What is mutated, and the tests that have to notice: the quick ones that are about the file."""

CHECK = "tests/verify/check/test"
BEHAVIOUR = "tests/verify/behaviour/test"
BESIDE = "tests/verify/teacher/test"
RANGES = "tests/verify/ranges/test"
TARGETS: dict[str, tuple[str, ...]] = {
    "decision/cells.py": ("tests/decision/test_cells_steps.py",),
    "emulator/firmware.py": ("tests/emulator/test_firmware.py", "tests/emulator/test_firmware_sources.py"),
    "emulator/sources.py": ("tests/emulator/test_firmware_sources.py",),
    "decision/neighbourhood.py": ("tests/decision/test_neighbourhood.py",),
    "rlcc/checks.py": ("tests/rlcc/test_checks.py", "tests/rlcc/test_behaviour.py"),
    "rlcc/fidelity.py": ("tests/rlcc/test_fidelity.py",),
    "rlcc/gate.py": (
        "tests/rlcc/test_gate_judging.py",
        "tests/rlcc/test_checks.py",
        "tests/rlcc/test_gate_model.py",
        "tests/rlcc/test_gate_network.py",
        "tests/rlcc/test_behaviour.py",
    ),
    "rlcc/neighbourhood.py": ("tests/rlcc/test_neighbourhood_search.py",),
    "rlcc/teacher_match.py": (
        "tests/rlcc/test_teacher_match.py",
        "tests/rlcc/test_teacher_match_knobs.py",
        "tests/rlcc/test_checks.py",
    ),
    "verify/behaviour/cells.py": (f"{BEHAVIOUR}_extremes.py", f"{BEHAVIOUR}_steps.py"),
    "verify/behaviour/circles.py": (f"{BEHAVIOUR}_circles.py",),
    "verify/behaviour/contexts.py": (f"{BEHAVIOUR}_circles.py", f"{BEHAVIOUR}_loops.py"),
    "verify/behaviour/decided.py": (f"{BEHAVIOUR}_steps.py", f"{BEHAVIOUR}_circles.py"),
    "verify/behaviour/extremes.py": (f"{BEHAVIOUR}_extremes.py", f"{BEHAVIOUR}_steps.py"),
    "verify/behaviour/loops.py": (f"{BEHAVIOUR}_loops.py",),
    "verify/behaviour/order.py": (f"{BEHAVIOUR}_order.py",),
    "verify/behaviour/steps.py": (f"{BEHAVIOUR}_steps.py",),
    "verify/check/boundary.py": (f"{CHECK}_boundary_process.py",),
    "verify/check/judge.py": (f"{CHECK}_judge.py", f"{CHECK}_judge_cuts.py", f"{CHECK}_judge_unsure.py"),
    "verify/check/known.py": (f"{CHECK}_known.py",),
    "verify/check/linear.py": (f"{CHECK}_linear.py",),
    "verify/check/layout.py": (f"{CHECK}_layout.py",),
    "verify/check/meaning.py": (f"{CHECK}_meaning_terms.py", f"{CHECK}_meaning.py"),
    "verify/check/notation.py": (f"{CHECK}_notation.py",),
    "verify/check/order.py": (f"{BEHAVIOUR}_order.py",),
    "verify/check/proofs.py": (f"{CHECK}_proofs.py",),
    "verify/check/recheck.py": (f"{CHECK}_claims.py", f"{CHECK}_recheck.py"),
    "verify/check/solver.py": (f"{CHECK}_solver.py",),
    "verify/check/terms.py": (f"{CHECK}_terms.py",),
    "verify/check/walk.py": (f"{CHECK}_walk.py",),
    "verify/ranges/branches.py": (f"{RANGES}_branches.py", f"{RANGES}_walk.py"),
    "verify/ranges/meeting.py": (f"{RANGES}_walk.py", f"{RANGES}_bound.py"),
    "verify/ranges/memory.py": (f"{RANGES}_memory.py", f"{RANGES}_walk.py"),
    "verify/ranges/values.py": (f"{RANGES}_memory.py", f"{RANGES}_walk.py"),
    "verify/ranges/walk.py": (f"{RANGES}_walk.py", f"{RANGES}_bound.py"),
    "verify/ranges/words.py": (f"{RANGES}_words.py", f"{RANGES}_branches.py"),
    "verify/teacher/distance.py": (f"{BESIDE}_distance.py",),
    "verify/teacher/furthest.py": (f"{BESIDE}_furthest.py", f"{BESIDE}_distance.py"),
    "verify/teacher/histories.py": (f"{BESIDE}_histories.py",),
    "verify/teacher/network.py": (f"{BESIDE}_network.py",),
}
"""File -> tests."""
