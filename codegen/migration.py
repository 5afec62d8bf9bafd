"""From the contexts of one firmware to those of its successor: which fields keep their meaning, and the C that carries
them over (firmware_templates/common/rlcc_migrate.h.j2)."""

from dataclasses import dataclass
from importlib import metadata

from codegen.identity import field_meanings, fields_read, layout_id, prefixed
from codegen.initialisers import elements
from codegen.layout import LaidOut, context_layout
from codegen.lines import wrapped
from codegen.templates import environment
from decision.artefact.errors import InputError
from decision.ir.program import Program

TEMPLATE = "common/rlcc_migrate.h.j2"


@dataclass(frozen=True)
class MigratedContexts:
    """``layout``: as a constant of C."""

    layout: str
    fields: tuple[LaidOut, ...]
    size: int


def kept_fields(old: Program, new: Program) -> list[str]:
    """Returns the fields of the new context that mean in the old one what they mean in the new one.

    A meaning names the fields that its expression reads; so a field is kept only if those are kept too.
    """
    before, after = field_meanings(old), field_meanings(new)
    kept = {name for name in after if before.get(name) == after[name]}
    read = fields_read(new)
    while lost := {name for name in kept if not read[name] <= kept}:
        kept -= lost
    return [field.name for field in context_layout(new)[0] if field.name in kept]


def migration(old: Program, new: Program, names: tuple[str, str], prefix: str) -> str:
    """Returns the text of rlcc_migrate.h; ``names``: what the two are called; ``prefix``: of the new one.

    InputError where there is nothing to migrate, or the agents are of another kind.
    """
    if old.interface.agent != new.interface.agent:
        raise InputError(f"a {old.interface.agent}'s contexts are none of a {new.interface.agent}; reset them")
    if layout_id(old) == layout_id(new):
        raise InputError(f"both have the layout {layout_id(new):08x}: contexts stay as they are, leave out --migration")
    contexts = [MigratedContexts(f"0x{layout_id(program):08X}", *context_layout(program)) for program in (old, new)]
    if not all(context.fields for context in contexts):
        raise InputError("one of the two keeps no context; there is nothing to migrate")
    kept, fields = kept_fields(old, new), contexts[1].fields
    named = fields if new.network is None else elements(fields)  # an LSTM's vectors are arrays in its header
    text = (
        environment()
        .get_template(TEMPLATE)
        .render(
            rlcc_version=metadata.version("rlcc"),
            old=names[0],
            new=names[1],
            agent=new.interface.agent,
            before=contexts[0],
            after=contexts[1],
            places=[(field.name, place.name) for field, place in zip(fields, named, strict=True)],
            kept=kept,
            reset=[field.name for field in fields if field.name not in kept],
        )
    )
    return wrapped(prefixed(text, prefix))
