import warnings

import numpy as np
import onnx
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.link.onnx import (
    DroppedCheckWarning,
    DroppedPrintWarning,
    UnsupportedOpError,
    export_onnx,
)
from pytensor.printing import Print
from pytensor.raise_op import Assert, CheckAndRaise
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types, run

positive = CheckAndRaise(ValueError, "x must be positive")
small = Assert("x must be small")


def checked(x):
    return small(positive(x, pt.all(x > 0), pt.any(x > 1)) * 2, pt.all(x < 10))


def test_dropped_check_is_named():
    x = pt.vector("x", dtype="float32")
    with pytest.warns(DroppedCheckWarning) as record:
        model = export_onnx([x], checked(x))
    messages = [str(warning.message) for warning in record]
    assert len(messages) == 2
    assert "ValueError('x must be positive')" in messages[0]
    assert "AssertionError('x must be small')" in messages[1]
    # Nothing is computed for a condition that nobody reads.
    assert op_types(model) == ["Mul"]
    np.testing.assert_array_equal(run(model, [np.array([-3, 4], "float32")])[0], [-6, 8])


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("opset_version", [18, 20, 24])
def test_checks_as_outputs(opset_version, optimize):
    x = pt.vector("x", dtype="float32")
    y = checked(x)
    y.name = "check_0"
    model = export_onnx(
        [x],
        y,
        checks="outputs",
        metadata={"author": "me"},
        opset_version=opset_version,
        optimize=optimize,
    )
    onnx.checker.check_model(model, full_check=True)
    assert [o.name for o in model.graph.output] == ["check_0", "check_0_1", "check_1"]
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert metadata == {
        "author": "me",
        "check_0_1": "ValueError('x must be positive')",
        "check_1": "AssertionError('x must be small')",
    }
    for values, first, second in (
        ([1, 2], True, True),
        ([0.5, 0.25], False, True),
        ([-1, 20], False, False),
        ([3, 20], True, False),
    ):
        result, *held = run(model, [np.array(values, "float32")])
        np.testing.assert_array_equal(result, 2 * np.array(values))
        assert [array.dtype for array in held] == ["bool", "bool"]
        assert [array.shape for array in held] == [(), ()]
        assert held == [first, second]


def test_error_names_the_check():
    x = pt.vector("x", dtype="float32")
    with pytest.raises(UnsupportedOpError, match="x must be positive") as error:
        export_onnx([x], checked(x), checks="error")
    assert len(error.value.failures) == 2


@pytest.mark.parametrize("checks", ["drop", "outputs", "error"])
@pytest.mark.parametrize("optimize", [True, False])
def test_check_that_always_holds_is_nothing(checks, optimize):
    x = pt.tensor("x", shape=(3,), dtype="float32")
    y = positive(x, pt.constant(True), np.array(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = compare_onnx_and_py([x], y * 2, [[1, 2, 3]], checks=checks, optimize=optimize)
    assert len(model.graph.output) == 1


def test_one_false_condition_is_dropped_with_a_warning_too():
    x = pt.vector("x", dtype="float32")
    with pytest.warns(DroppedCheckWarning, match="x must be positive"):
        export_onnx([x], positive(x, True, False), optimize=False)


def test_check_of_an_inner_graph():
    x = pt.vector("x", dtype="float32")
    inner = OpFromGraph([x], [positive(x, pt.all(x > 0))])
    model = export_onnx([x], inner(x + 1), checks="outputs")
    assert [bool(run(model, [np.array([v], "float32")])[1]) for v in (0, -2)] == [True, False]


def test_a_length_of_one_is_no_other():
    """The operators of ONNX broadcast what PyTensor's types don't say to be broadcast."""
    x, y = pt.vector("x", dtype="float32"), pt.vector("y", dtype="float32")
    f = pytensor.function([x, y], pt.nn.mse_loss(x, y), mode="ONNX")
    assert f([1, 3], [1, 1]) == 2
    with pytest.raises(AssertionError, match="Could not broadcast"):
        f([1, 3], [1])


def test_printing_is_dropped_with_a_warning():
    x = pt.vector("x", dtype="float32")
    with pytest.warns(DroppedPrintWarning, match="'a value'"):
        compare_onnx_and_py([x], Print("a value")(x) + 1, [[1, 2]])
