"""Operators' docstrings are complete, and the code in the migration tables is right."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from tests.utils import REFERENCE_MODE

MIGRATION = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
THEANO = {n for n in import_module("pytensor.tensor.__extend__").__all__ if n != "nn"}
FUNCTIONS = {f"pt.{n}": getattr(pt, n) for n in sorted(THEANO)}
FUNCTIONS |= {f"pt.nn.{n}": getattr(pt.nn, n) for n in pt.nn.__all__}
NEVER_RAISES = {"hardsigmoid", "hardswish", "mish", "relu", "relu6", "selu", "silu", "softsign"}
NEVER_RAISES |= {"sigmoid", "logsigmoid", "tanh", "tanhshrink"}
# PyTorch's table has what `pt.nn` has; ONNX's takes Theano's arguments where they are closer.
NOT_IN_TORCH = {f"pt.{n}" for n in THEANO - {"topk"}} | {"pt.nn.global_lp_pool"}
NOT_IN_ONNX = {"pt.pool_2d", "pt.conv2d", "pt.silu", "pt.batch_normalization_train"}
NOT_IN_ONNX |= {"pt.batch_normalization", "pt.nn.interpolate", "pt.nn.hardsigmoid"}
NOT_IN_ONNX |= {n for n in FUNCTIONS if ".adaptive_" in n}
# What ONNX has several nodes for
SEVERAL = {"bilinear", "cosine_similarity", "glu", "hardtanh", "hardshrink", "kl_div", "logsigmoid"}
SEVERAL |= {
    "normalize",
    "pairwise_distance",
    "rrelu",
    "softmin",
    "tanhshrink",
    "unfold",
    "upsample",
}
SEVERAL |= {n for n in pt.nn.__all__ if n.endswith("_loss") and n != "nll_loss"}
SEVERAL |= {n for n in pt.nn.__all__ if n.startswith("binary_") or "dropout" in n}
NOT_IN_ONNX |= {f"pt.nn.{n}" for n in SEVERAL - {"dropout"}}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_is_complete(name):
    """The forms for one and three axes may refer to that for two, which has all sections."""
    docscrape = pytest.importorskip("numpydoc.docscrape")
    sections = docscrape.FunctionDoc(FUNCTIONS[name])
    required = {"Parameters", "Returns", "Raises", "Examples"}
    short = name.rpartition(".")[2]
    if short in NEVER_RAISES:
        required -= {"Raises"}
    if short.endswith(("1d", "3d")) and f"see `{short[:-2]}2d`." in sections["Summary"][0]:
        required = {"Extended Summary", "Examples"}
    assert [section for section in sorted(required) if not sections[section]] == []


def namespace():
    """Return the values that the migration tables are about."""
    names = {}
    exec(re.search(r"with these values:\n\n```python\n(.*?)```", MIGRATION, re.S)[1], names)
    return names


def table(title):
    """Return the rows of the table under a heading, as lists of cells without code marks."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", MIGRATION, re.S | re.M)
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines]


def as_list(values):
    return list(values) if isinstance(values, list | tuple) else [values]


def evaluate(values):
    return [v.eval(mode=REFERENCE_MODE) if isinstance(v, Variable) else v for v in as_list(values)]


TORCH, ONNX = table("PyTorch"), table("ONNX")


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("row", TORCH, ids=[row[0] for row in TORCH])
def test_torch(row):
    theirs, ours, _ = row
    names = namespace()
    actual = evaluate(eval(ours, names))
    torch = pytest.importorskip("torch")
    tensors = {k: torch.tensor(v) for k, v in names.items() if isinstance(v, np.ndarray)}
    expected = as_list(eval(theirs, {"F": torch.nn.functional, "torch": torch, **tensors}))
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("row", ONNX, ids=[row[0] for row in ONNX])
def test_onnx(row):
    pytest.importorskip("onnx")
    from pytensor.link.onnx import export_onnx

    operator, ours, is_node, _ = row
    names = namespace()
    x = pt.tensor("x", shape=(2, 4, 8, 6), dtype="float32")
    single = {
        k: v.astype("float32")
        for k, v in names.items()
        if isinstance(v, np.ndarray) and v.dtype == "float64"
    }
    with pytensor.config.change_flags(floatX="float32"):
        out = eval(ours, names | single | {"x": x})
        model = export_onnx([x], as_list(out), opset_version=24)
    operators = {node.op_type for node in model.graph.node}
    assert (operator.split(",")[0] in operators) == (is_node == "yes"), operators


@pytest.mark.parametrize(("rows", "absent"), [(TORCH, NOT_IN_TORCH), (ONNX, NOT_IN_ONNX)])
def test_tables_name_every_operator(rows, absent):
    text = " ".join(row[1] for row in rows)
    families = {re.sub(r"[123]d", r"[123]d", name) for name in {*FUNCTIONS} - absent}
    assert [family for family in families if not re.search(rf"(?<![\w.]){family}\(", text)] == []
