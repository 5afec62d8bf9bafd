"""Which format a model file has: by its first bytes and keys, never by its name.

Formats that are not read are named, each with the way to one that is.
"""

from dataclasses import dataclass
from typing import Any

from codegen.frontends.catboost_binary import MAGIC
from codegen.frontends.catboost_json import is_catboost
from codegen.frontends.gbrl_binary import is_gbrl
from codegen.frontends.lightgbm_text import is_lightgbm
from codegen.frontends.treelite_model import is_treelite
from codegen.frontends.xgboost_json import is_xgboost
from decision.policy.model import KIND

CBM, TREELITE, LIGHTGBM, CATBOOST, XGBOOST, RLCC = "cbm", "treelite", "lightgbm", "catboost", "xgboost", "rlcc"
GBRL = "gbrl"
JSON = "json"
XGBOOST_MEND = 'save it as JSON: booster.save_model("model.json")'
LIGHTGBM_MEND = 'save it as text: booster.save_model("model.txt")'
PICKLE = "a pickle runs code when it is opened; use codegen.frontends.from_sklearn in Python, or treelite's .tl"
ONNX = "ONNX cuts thresholds to float32 and so changes decisions; give the model in its library's own format"
UBJSON = f"it is XGBoost's binary format; {XGBOOST_MEND}"
NOTES = {
    XGBOOST: "a zero is the number 0, not a missing value as in a sparse matrix",
    TREELITE: "by treelite's meaning, which keeps no zero_as_missing",
    GBRL: "the actor's outputs before any clip or tanh, without a critic's",
}
"""What files of a format do not say, for whoever emits one."""


@dataclass(frozen=True)
class RefusedFormat:
    """A format that is known and not read, and why."""

    reason: str


STARTS: dict[bytes, str] = {
    b"\x80\x02": PICKLE,
    b"\x80\x03": PICKLE,
    b"\x80\x04": PICKLE,
    b"\x80\x05": PICKLE,
    b"binf": UBJSON,
    b"booster[": f"it is XGBoost's text dump, which has no base_score; {XGBOOST_MEND}",
    b"<?xml": "it is XML, perhaps PMML, which rounds what is compared; give the model in its library's own format",
    b"PK\x03\x04": "it is a zip archive; unpack it, or give the model in its library's own format",
    b"\x1f\x8b": "it is compressed; unpack it first",
    b"\x78\x9c": "it is compressed; unpack it first",
    b"BZh": "it is compressed; unpack it first",
    b"\xfd7zXZ": "it is compressed; unpack it first",
    b"\x89HDF": "it is HDF5; give the model in its library's own format",
}
"""First bytes of formats that are not read."""
SUFFIXES: dict[str, str] = {
    ".pkl": PICKLE,
    ".pickle": PICKLE,
    ".joblib": PICKLE,
    ".dill": PICKLE,
    ".onnx": ONNX,
    ".ubj": UBJSON,
    ".deprecated": UBJSON,
}
"""Names of formats that are not read, where no byte tells them."""


def format_of(content: bytes) -> str | RefusedFormat | None:
    """Returns the format of a file that starts so; JSON where its keys decide; None where it is not known."""
    if content.startswith(MAGIC):
        return CBM
    if is_treelite(content):
        return TREELITE
    if is_gbrl(content):
        return GBRL
    for start, reason in STARTS.items():
        if content.startswith(start):
            return RefusedFormat(reason)
    if content.startswith(b"{") and content[1:2] in b"LilUI$#" and b"learner" in content[:64]:
        return RefusedFormat(UBJSON)
    if b"onnx" in content[:256] and content[:1] == b"\x08":
        return RefusedFormat(ONNX)
    head = content[:256].lstrip().decode("utf-8", errors="replace")
    if head[:1] in ("{", "["):
        return JSON
    return LIGHTGBM if is_lightgbm(head) else None


def format_of_json(data: Any) -> str | RefusedFormat | None:
    """Returns the format of a JSON document."""
    if is_catboost(data):
        return CATBOOST
    if is_xgboost(data):
        return XGBOOST
    if isinstance(data, dict) and data.get("kind") == KIND:
        return RLCC
    if isinstance(data, list) and data and all(isinstance(tree, dict) and "nodeid" in tree for tree in data):
        return RefusedFormat(f"it is XGBoost's dump, which has no base_score; {XGBOOST_MEND}")
    if isinstance(data, dict) and "tree_info" in data and "feature_names" in data:
        return RefusedFormat(f"it is LightGBM's dump; {LIGHTGBM_MEND}")
    if isinstance(data, dict) and "num_feature" in data and "task_type" in data:
        return RefusedFormat('it is treelite\'s dump; serialise the model: model.serialize("model.tl")')
    return None
