"""The lines as Falcon's public headers have them, where a checkout of falcon-transport/isekai is told by RLCC_ISEKAI:
each field of each structure, filled with ones, has its bits where falcon_lines.py says."""

import os
from pathlib import Path

import pytest

from verify.adapter.falcon_lines import LINES, fields

ISEKAI = os.environ.get("RLCC_ISEKAI")
STAND_INS = {
    "absl/base/optimization.h": "#pragma once\n#define ABSL_CACHELINE_SIZE 64\n",
    "absl/log/check.h": "#pragma once\n#define CHECK_EQ(a, b) ((void)((a) == (b)))\n",
}
"""Of what the formats include beyond themselves: sizes and checks that no layout depends on."""


@pytest.mark.skipif(ISEKAI is None, reason="no checkout of falcon-transport/isekai: set RLCC_ISEKAI to its folder")
def test_fields_lie_where_the_public_headers_have_them(run, tmp_path):
    assert ISEKAI is not None
    for name, text in STAND_INS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    lines = ["#include <cstdio>", "#include <cstring>"]
    lines += [f'#include "isekai/host/falcon/rue/format_gen{gen}.h"' for gen in (1, 2)]
    lines += ["template <class T> void show(const T &line) {", "  unsigned char bytes[64];"]
    lines += ["  std::memcpy(bytes, &line, 64);", '  for (int i = 63; i >= 0; i--) std::printf("%02x", bytes[i]);']
    lines += ['  std::puts("");', "}", "int main() {"]
    for line in LINES:
        for name, _, _ in fields(line):
            lines += [f"  {{ falcon_rue::{line} it; std::memset(&it, 0, 64);"]
            lines += [f"    it.{name} = static_cast<decltype(it.{name})>(~0ULL); show(it); }}"]
    (tmp_path / "lines.cc").write_text("\n".join([*lines, "}\n"]))
    compiled = run("c++", "-std=c++17", "-w", "-I", tmp_path, "-I", Path(ISEKAI), tmp_path / "lines.cc",
                   "-o", tmp_path / "lines")  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr[-2000:]
    shown = [int(word, 16) for word in run(tmp_path / "lines").stdout.split()]
    placed = [((1 << width) - 1) << at for line in LINES for _, at, width in fields(line)]
    assert shown == placed
