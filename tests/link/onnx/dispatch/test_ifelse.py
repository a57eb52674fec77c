import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.conditional import ifelse
from pytensor.link.onnx import export_onnx
from tests.link.onnx.test_basic import check_results, compare_onnx_and_py, op_types, run
from tests.utils import REFERENCE_MODE

X = np.array([[1, 2, 3], [4, 5, 6]], dtype="float32")


def body_types(model):
    (node,) = (node for node in model.graph.node if node.op_type == "If")
    bodies = {a.name: a.g for a in node.attribute}
    return {name: [n.op_type for n in graph.node] for name, graph in bodies.items()}


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64"])
def test_condition(dtype):
    c, x = pt.scalar("c", dtype=dtype), pt.fmatrix("x")
    y = ifelse(c, x + 1, x * 2)
    for value in [0, 1] + [np.nan, -0.0, 5e-324, -np.inf] * (dtype == "float64"):
        compare_onnx_and_py([c, x], y, [value, X])


@pytest.mark.parametrize("optimize", [True, False])
def test_several_outputs_of_different_shapes_and_dtypes(optimize):
    c, x = pt.scalar("c", dtype="bool"), pt.fmatrix("x")
    n = pt.lscalar("n")
    outputs = ifelse(
        c,
        [x, pt.zeros((0, 2), dtype="int8"), pt.exp(x).sum(), n > 2, x],
        [x[:1, 1:], pt.ones((4, 2), dtype="int8"), pt.as_tensor(3, dtype="float32"), n > 5, x],
    )
    for value in (False, True):
        compare_onnx_and_py([c, x, n], outputs, [value, X, 4], optimize=optimize)


def test_nested():
    """And of a condition that is computed."""
    a, b, x = pt.lscalar("a"), pt.lscalar("b"), pt.fmatrix("x")
    y = ifelse(a, ifelse(b, pt.exp(x), pt.sin(x) + pt.exp(x).sum()), ifelse(b, x * 2, x[:1]))
    outputs = [y, y + 1, *ifelse(pt.gt(x.sum(), a), [x.T, x[0]], [x, x[1]])]
    for conditions in ((0, 0), (0, 1), (1, 0), (1, 1)):
        compare_onnx_and_py([a, b, x], outputs, [*conditions, X])


def test_branches_are_lazy():
    c, x = pt.lscalar("c"), pt.fmatrix("x")
    shared = pt.tanh(x)
    model = compare_onnx_and_py(
        [c, x], ifelse(c, pt.exp(shared).sum(), pt.log(shared).max()), [1, X]
    )
    assert op_types(model) == ["Tanh", "Cast", "If"]
    bodies = body_types(model)
    assert bodies["then_branch"] == ["Exp", "ReduceSum"]
    assert "Log" in bodies["else_branch"]
    plain = export_onnx([c, x], ifelse(c, pt.exp(x), pt.log(x)), optimize=False)
    assert {"Exp", "Log"} < set(op_types(plain))


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "NUMBA", "CVM"])
def test_compiled_function(mode):
    c, x = pt.lscalar("c"), pt.fmatrix("x")
    with pytensor.config.change_flags(cxx=""):
        y = ifelse(c, pt.exp(x).sum(), pt.log(x * x + 1).sum())
        model = export_onnx(pytensor.function([c, x], y, mode=mode))
        reference = pytensor.function([c, x], y, mode=REFERENCE_MODE)
        assert op_types(model) == ["Cast", "If"]
        for value in (0, 1):
            check_results(model, run(model, [np.array(value), X]), [reference(value, X)])
