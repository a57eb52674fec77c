import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.onnx import VerificationError, export_onnx, onnx_funcify
from pytensor.link.onnx.verify import describe_difference, run


class OneMore(Op):
    """Adds one, in a converter two."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + np.ones_like(inputs[0])


@onnx_funcify.register(OneMore)
def onnx_funcify_OneMore(op, node, x):
    return x + 2


SAMPLE = np.array([[1, -2, 3], [4, 5, -6]])


def test_a_sample_of_another_shape_names_the_input():
    x = pt.tensor("x", dtype="float32", shape=(None, 3, 8, 8))
    reason = r"^verify: input 'x' has shape \(2, 8, 8, 3\); expected \(None, 3, 8, 8\). Try "
    with pytest.raises(ValueError, match=reason + r"numpy.moveaxis\(x, -1, 1\)$"):
        export_onnx([x], x + 1, verify=[np.zeros((2, 8, 8, 3))])
    for shape in ((3, 8, 8), (2, 3, 8, 7)):
        with pytest.raises(ValueError, match=r"expected \(None, 3, 8, 8\)$"):
            export_onnx([x], x + 1, verify=[np.zeros(shape)])


def test_the_first_node_that_differs_is_named():
    x = pt.matrix("x", dtype="float32")
    y = pt.exp(pt.tanh(OneMore()(pt.abs(x)) / 3)).sum()
    with pytest.raises(VerificationError) as error:
        export_onnx([x], [x + 1, y], verify=[SAMPLE])
    message = str(error.value)
    assert message.startswith("output 'output_1' differs: absolute error")
    assert "The difference begins at the node whose output differs: absolute error 1 " in message
    assert "PyTensor: OneMore(" in message
    assert "ONNX: one_more_0" in message


def test_the_first_node_that_differs_is_found_with_parameters_and_integers():
    x = pt.matrix("x", dtype="int64")
    w = pytensor.shared(np.arange(3), name="w")
    with pytest.raises(VerificationError, match=r"differs in 6 of 6 elements\n.*OneMore\("):
        export_onnx([x], OneMore()(x * w) * 2, verify=[SAMPLE])


def test_a_pass_that_makes_a_difference_is_named(monkeypatch):
    from pytensor.link.onnx.passes import constants

    monkeypatch.setitem(constants.EVALUATE, "Add", lambda node, x, y: x + y + 1)
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.arange(3, dtype="float32"), name="w")
    with pytest.raises(VerificationError, match="begins at the pass fold_constants"):
        export_onnx([x], x * Same()(w), verify=[SAMPLE])


def test_a_pass_that_changes_a_node_wrongly_is_named(monkeypatch):
    from pytensor.link.onnx.passes import cancel

    def merge(graph, node, above):
        node.inputs[0] = above.inputs[0]  # whatever is above
        return True

    monkeypatch.setitem(cancel.MERGE, "Transpose", merge)
    x = pt.matrix("x", dtype="float32")
    y = Same()(x).T
    with pytest.raises(VerificationError, match="begins at the pass cancel_inverses"):
        export_onnx([x], y, verify=[SAMPLE])


class Same(OneMore):
    """Adds one, in a converter too."""


@onnx_funcify.register(Same)
def onnx_funcify_Same(op, node, x):
    return x + 1


def test_differences_are_described():
    one = np.ones(3, dtype="float32")
    assert describe_difference(one, one) is None
    nan = np.array([1, np.nan, 1], dtype="float32")
    assert describe_difference(nan, nan) is None
    assert describe_difference(nan, one) == "has 1 NaN in onnxruntime, 0 in PyTensor"
    assert "is float32[3] in onnxruntime, float64[3] in PyTensor" in describe_difference(
        one, one.astype("float64")
    )
    assert "absolute error 0.5" in describe_difference(one, one + np.float32(0.5))
    infinite = np.array([np.inf, 1, 1], dtype="float32")
    assert "absolute error inf" in describe_difference(infinite, one)
    assert describe_difference(one > 2, one > 0) == "differs in 3 of 3 elements"
    large = np.array([2**53, 2**53])  # the next number has no double
    assert describe_difference(large + np.array([0, 1]), large) == "differs in 1 of 2 elements"


def test_rounding_that_a_model_enlarges_is_no_difference():
    """Terms of 10,000 cancel: what is left differs by more than any fixed tolerance."""
    rng = np.random.default_rng(0)
    large = rng.normal(0, 1e4, (4, 2000)).astype("float32")
    sample = np.concatenate([large, rng.normal(size=(4, 2000)).astype("float32") - large], axis=1)
    w = pytensor.shared(np.tile(rng.normal(size=(2000, 3)), (2, 1)).astype("float32"), name="w")
    x = pt.matrix("x", dtype="float32", shape=(4, 4000))
    model = export_onnx([x], [x @ w], verify=[sample])
    exact = (sample.astype("float64") @ w.get_value().astype("float64")).astype("float32")
    [result] = run(model.SerializeToString(), ["output_0"], {"x": sample})
    assert "absolute error" in describe_difference(result, exact)
    small = sample / np.float32(1e4)
    with pytest.raises(VerificationError, match="absolute error 1"):
        export_onnx([x], [OneMore()(x @ w)], verify=[small])


def test_a_parameter_of_another_dtype_is_named_and_the_file_is_kept(tmp_path):
    w = pytensor.shared(np.ones((3, 2), "float32"), name="w")
    w.container.storage[0] = np.ones((3, 2), "float64") / 3  # as a backend may leave it
    x, path = pt.matrix("x", dtype="float32"), tmp_path / "model.onnx"
    for external_data in (False, True):
        with pytest.raises(VerificationError, match="w holds float64, and its type says float32"):
            export_onnx([x], [x @ w], path, verify=[np.ones((1, 3))], external_data=external_data)
        assert path.exists()
        path.unlink()
