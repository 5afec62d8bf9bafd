"""Other tools' exports, called as their documentation says; their text is compiled unchanged.

``bench_model`` is a wrapper around the exported function in the same file, so that the compiler can inline it. It
converts nothing: the row is already of the type that the export takes.
"""

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench.codegen.contender import Absent, ExporterRun, ExportSource, Gives, Takes
from bench.codegen.foreign_models import SUFFIX, AnySubject, OutsideExporter
from bench.codegen.subjects import ExportSubject
from bench.codegen.translated_trees import forest, lightgbm_model, treelite_model

INT16 = np.iinfo(np.int16)


def catboost_cpp(subject: AnySubject, _: str) -> ExportSource:
    """``save_model(format="cpp")``. Its std::vector is the one in shim/, without a heap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cpp"
        subject.model.save_model(str(path), format="cpp")
        exported = path.read_text()
    row = f"std::vector<float>(row, {subject.features})"
    if subject.outputs > 1:
        head = 'extern "C" void bench_model(const float *row, double *out)'
        body = f"const auto found = ApplyCatboostModelMulti({row});"
        body += f" for (unsigned k = 0; k < {subject.outputs}; ++k) out[k] = found[k];"
    else:
        head, body = 'extern "C" double bench_model(const float *row)', f"return ApplyCatboostModel({row});"
    text = f'#include "model.cpp"\n{head} {{ {body} }}\n'
    return ExportSource(text, "float32", "float64", "c++", {"model.cpp": exported}, outputs=subject.outputs)


def tl2cgen_c(subject: AnySubject, _: str, kind: Takes = "float32", quantize: bool = False) -> ExportSource:
    tl2cgen = _package("tl2cgen")
    _package("treelite")
    with tempfile.TemporaryDirectory() as folder, _silence():
        model = read_by_treelite(subject) if isinstance(subject, OutsideExporter) else treelite_model(subject, kind)
        if model.input_type != kind:
            raise Absent(f"its model has thresholds of {model.input_type}")
        tl2cgen.generate_c_code(model, dirpath=folder, params={"quantize": int(quantize)})
        files = {p.name: p.read_text() for p in sorted(Path(folder).iterdir()) if p.suffix in (".c", ".h")}
    c_type = "float" if kind == "float32" else "double"
    if subject.outputs > 1:
        head = f"void bench_model(union Entry *row, {c_type} *out)"
        body = f"  for (int k = 0; k < {subject.outputs}; ++k) out[k] = 0;\n  predict(row, 0, out);\n"
    else:
        head = f"{c_type} bench_model(union Entry *row)"
        body = f"  {c_type} result[1] = {{0}};\n  predict(row, 0, result);\n  return result[0];\n"
    text = f'#include "main.c"\n{head};\n{head} {{\n{body}}}\n'
    gives: Gives = "float32" if kind == "float32" else "float64"
    units = ("quantize.c",) if quantize else ()
    return ExportSource(text, kind, gives, files=files, units=units, scribbles=quantize, outputs=subject.outputs)


def read_by_treelite(subject: OutsideExporter) -> Any:
    """The model as treelite reads its library's file (scikit-learn's from memory), its raw outputs asked for, as of
    everybody."""
    if subject.library == "scikit-learn":
        return import_module("treelite.sklearn").import_model(subject.model)
    frontend = import_module("treelite.frontend")
    readers = {"lightgbm": frontend.load_lightgbm_model, "xgboost": frontend.load_xgboost_model}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{SUFFIX[subject.library]}"
        path.write_bytes(subject.file)
        model = readers[subject.library](path)
    if subject.outputs > 1:
        model.get_header_accessor().set_field("postprocessor", "identity_multiclass")
    return model


def m2cgen_c(subject: AnySubject, _: str) -> ExportSource:
    m2cgen = _package("m2cgen")
    _package("lightgbm")
    try:
        exported: str = m2cgen.export_to_c(
            subject.model if isinstance(subject, OutsideExporter) else lightgbm_model(subject)
        )
    except TypeError as error:  # XGBoost's classifiers of today
        raise Absent(f"m2cgen ends in a TypeError: {error}") from None
    if "memcpy(" in exported:
        raise Absent("its code of several outputs calls memcpy, of a C library that is not there")
    call = "double bench_model(double *row);\ndouble bench_model(double *row) { return score(row); }\n"
    return ExportSource(f"{exported}\n{call}", "float64", "float64")


def emlearn_inline(subject: ExportSubject, _: str, kind: Takes) -> ExportSource:
    """``convert(method="inline")``: the thresholds are constants in the code. ``kind`` is the features' type."""
    emlearn = _package("emlearn")
    if kind == "int16" and any(low < INT16.min or high > INT16.max for low, high in subject.ranges):
        raise Absent("features wider than int16_t")
    c_type = "float" if kind == "float32" else f"{kind}_t"
    exported: str = emlearn.convert(forest(subject), method="inline", dtype=c_type).save(name="model")
    text = (
        f"{exported}\nfloat bench_model(const {c_type} *row);\n"
        f"float bench_model(const {c_type} *row) {{ return model_predict(row, {subject.features}); }}\n"
    )
    return ExportSource(text, kind, "float32")


def micromlgen_cpp(subject: ExportSubject, _: str) -> ExportSource:
    micromlgen = _package("micromlgen")
    exported = re.sub(r"#pragma once\n", "", micromlgen.port(forest(subject)))
    call = "Eloquent::ML::Port::RandomForestRegressor model; return model.predict(row);"
    return ExportSource(
        f'{exported}\nextern "C" float bench_model(float *row) {{ {call} }}\n', "float32", "float32", "c++"
    )


PEERS = (
    ExporterRun("CatBoost, C++ export", "peer", catboost_cpp, "catboost", "Apache-2.0", ("symmetric", "catboost")),
    ExporterRun("tl2cgen, float32", "peer", tl2cgen_c, "tl2cgen", "Apache-2.0", ("symmetric", "xgboost")),
    ExporterRun(
        "tl2cgen, float64",
        "peer",
        partial(tl2cgen_c, kind="float64"),
        "tl2cgen",
        "Apache-2.0",
        ("symmetric", "lightgbm", "scikit-learn"),
    ),
    ExporterRun("tl2cgen, float32, quantize", "peer", partial(tl2cgen_c, quantize=True), "tl2cgen", "Apache-2.0"),
    ExporterRun("m2cgen", "peer", m2cgen_c, "m2cgen", "MIT", ("symmetric", "lightgbm", "xgboost", "scikit-learn")),
    ExporterRun("emlearn, inline int16", "peer", partial(emlearn_inline, kind="int16"), "emlearn", "MIT"),
    ExporterRun("emlearn, inline int32", "peer", partial(emlearn_inline, kind="int32"), "emlearn", "MIT"),
    ExporterRun("emlearn, inline float", "peer", partial(emlearn_inline, kind="float32"), "emlearn", "MIT"),
    ExporterRun("micromlgen", "peer", micromlgen_cpp, "micromlgen", "MIT"),
)


def _package(name: str) -> ModuleType:
    try:
        with np.errstate():  # emlearn lets NumPy raise on underflow, for the whole process
            return import_module(name)
    except ImportError as error:
        raise Absent(f"{name} is not installed: make setup-exporters ({error})") from None


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keeps a C++ library's log lines off the terminal."""
    with contextlib.redirect_stdout(io.StringIO()), Path(os.devnull).open("w") as nothing:
        kept = os.dup(2)
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
