"""The whole decision as an integer program: raw event and flow context in, new rate out.

Rule two of the design: what is emitted, timed and proved starts at the timestamps and ends at the new rate.
"""

from decision.actions import Scale
from decision.errors import InputError
from decision.features import AnyFeature, PreviousAction
from decision.forest import Forest
from decision.policy import Observation
from decision.program import Op, Program, ProgramBuilder
from decision.signals import ACTION_BITS, CONTEXT_RATE_BITS, LINE_RATE_Q30, RATE_FRACTION_BITS


def feature_name(feature: AnyFeature, lag: int) -> str:
    """Name of a feature ``lag`` decisions back. The action at lag 0 is the one the decision before applied."""
    if isinstance(feature, PreviousAction):
        return f"{feature.name}_{lag + 1}"
    return feature.name if lag == 0 else f"{feature.name}_{lag}"


def feature_names(observation: Observation) -> tuple[str, ...]:
    """Names of a feature row, newest decision first."""
    return tuple(feature_name(f, lag) for lag in range(observation.window) for f in observation.features)


def build(observation: Observation, action: Scale, forest: Forest) -> Program:
    """The decision program of a student. Features that no tree looks at are neither computed nor remembered."""
    names = feature_names(observation)
    if forest.features != names:
        seen, offered = ", ".join(forest.features), ", ".join(names)
        raise InputError(f"the student looks at {seen}, but the observation offers {offered}")
    if forest.leaf_bits != action.leaf_bits:
        raise InputError(f"the leaves have {forest.leaf_bits} fraction bits, the action map needs {action.leaf_bits}")
    if forest.outputs != 1:
        raise InputError(f"the forest has {forest.outputs} outputs, the action map takes one; distil the student again")
    compact = forest.only_used()
    b = ProgramBuilder(compact)

    rate = rate_in_force(b)
    values, writes = _observe(b, observation, action.storage, set(compact.features), rate)
    trees = b.add(Op.TREES, tuple(values[name] for name in compact.features), name="trees", note="sum of the trees")
    (decided,) = action.integer(b, [trees])
    return finish(b, rate, decided, writes)


def rate_in_force(b: ProgramBuilder) -> int:
    """The rate before the decision, Q0.30, below line rate; a new flow's is the operator's."""
    stored = b.state_in("rate_q30", "uint32", "rate, fraction of line rate; 0 = new flow")
    is_new = b.add(Op.EQ, (stored, b.const(0)), name="is_new_flow")
    known = b.add(Op.SELECT, (is_new, b.param("rate_initial_q30"), stored), name="rate_known_q30")
    # Whatever the context holds: four times the rate then fits 32 bits, so a product with it is one high word.
    line_rate = b.const(LINE_RATE_Q30)
    return b.add(Op.MIN, (known, line_rate), name="rate_now_q30", note="rate in force")


def finish(b: ProgramBuilder, rate: int, decided: int, writes: dict[str, int | None]) -> Program:
    """From the action (Q16) to the new rate, its clamps and the new context; ``writes`` None: the new action."""
    one = b.const(1 << ACTION_BITS)
    multiplier = b.add(Op.ADD, (decided, one), name="multiplier_q16")
    scaled = b.add(Op.MUL_SHR, (rate, multiplier), ACTION_BITS, "rate_scaled_q30", "rate * multiplier")
    raised = b.add(Op.MAX, (scaled, b.param("rate_min_q30")), name="rate_raised_q30")
    new_rate = b.add(Op.MIN, (raised, b.param("rate_max_q30")), name="rate_new_q30", note="clamped to the limits")
    b.state_out("rate_q30", new_rate)
    for name, node in writes.items():
        b.state_out(name, decided if node is None else node)

    # One step above the floor: never 0, which would be a new flow, and line rate for the greatest rate there is.
    floored = b.add(Op.SHR, (new_rate,), CONTEXT_RATE_BITS - RATE_FRACTION_BITS, "rate_floored_q20")
    result = b.add(Op.ADD, (floored, b.const(1)), name="rate_q20", note="what the device takes, never 0")
    return b.finish(result)


def build_observer(observation: Observation) -> tuple[Program, tuple[int, ...]]:
    """A program that only computes the current features (lag 0), and their nodes in the order of ``features``.

    The previous action is not among them (it is the decision before's output): its node is -1. The rate in force is
    the state ``rate_q30``.
    """
    b = ProgramBuilder(Forest((), (), (0,), 0))
    rate = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(LINE_RATE_Q30)))
    nodes = tuple(
        -1 if isinstance(f, PreviousAction) else f.integer(b, observation.path, rate) for f in observation.features
    )
    b.state_out("rate_q30", rate)
    return b.finish(rate), nodes


def _observe(
    b: ProgramBuilder, observation: Observation, action_storage: str, used: set[str], rate: int
) -> tuple[dict[str, int], dict[str, int | None]]:
    """Nodes of the used features by name, and what each field of the history takes over (None: the new action)."""
    values: dict[str, int] = {}
    writes: dict[str, int | None] = {}
    for feature in observation.features:
        lags = [lag for lag in range(observation.window) if feature_name(feature, lag) in used]
        if not lags:
            continue
        newest: int | None = None
        first_stored = 0
        if not isinstance(feature, PreviousAction):
            newest = feature.integer(b, observation.path, rate)
            values[feature_name(feature, 0)] = newest
            first_stored = 1
        for lag in range(first_stored, max(lags) + 1):
            name = feature_name(feature, lag)
            storage = action_storage if isinstance(feature, PreviousAction) else feature.storage
            values[name] = b.state_in(name, storage, history_note(feature, lag))
            writes[name] = newest
            newest = values[name]
    return values, writes


def history_note(feature: AnyFeature, lag: int) -> str:
    back = lag + 1 if isinstance(feature, PreviousAction) else lag
    what = "multiplier - 1, Q16" if isinstance(feature, PreviousAction) else feature.name
    return f"{what}, {back} decision{'s' if back > 1 else ''} ago"
