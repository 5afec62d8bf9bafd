"""Our forms of trees beside other tools' exports of the same trees, on the same core.

``python -m bench.codegen`` writes docs/results/codegen-bench.md.
"""
