"""emulator/_fast.pyi names what the compiled module has: no more, no less."""

import ast
from pathlib import Path

import emulator
from emulator import _fast


def test_the_stub_is_the_module() -> None:
    tree = ast.parse((Path(emulator.__file__).parent / "_fast.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert set(classes) == {name for name, value in vars(_fast).items() if isinstance(value, type)}
    for name, node in classes.items():
        declared = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
            n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        there = {member for member in vars(getattr(_fast, name)) if not member.startswith("_")}
        assert {member for member in declared if not member.startswith("_")} == there
