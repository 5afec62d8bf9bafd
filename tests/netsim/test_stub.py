"""netsim/_core.pyi names what the compiled module has: no more, no less."""

import ast
from pathlib import Path

import netsim
from netsim import _core


def test_the_stub_is_the_module() -> None:
    tree = ast.parse((Path(netsim.__file__).parent / "_core.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            real = getattr(_core, node.name)
            declared = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
                t.id for n in node.body if isinstance(n, ast.Assign | ast.AnnAssign)
                for t in (n.targets if isinstance(n, ast.Assign) else [n.target]) if isinstance(t, ast.Name)
            }  # fmt: skip
            there = {name for name in vars(real) if not name.startswith("_")}
            assert {name for name in declared if not name.startswith("_")} == there, node.name
    stubbed = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert stubbed == {name for name, value in vars(_core).items() if isinstance(value, type)}
