"""Our forms of trees beside other tools' exports of the same trees, on the same core: docs/codegen-bench.md."""
