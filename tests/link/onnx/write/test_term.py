import numpy as np
import pytest

from pytensor.link.onnx import ConversionError
from pytensor.link.onnx.kernels import work_dtype
from pytensor.link.onnx.verify import run
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.link.onnx.write.serialize import to_model
from pytensor.link.onnx.write.term import Term, maximum, minimum, where


def results(values, write):
    """Return what onnxruntime computes of the terms that `write` makes of arrays."""
    builder = GraphBuilder(20)
    terms = [
        builder.input(f"x{i}", value.dtype.name, (None,) * value.ndim)
        for i, value in enumerate(values)
    ]
    for term in write(*terms):
        builder.output(term, None)
    model = to_model(builder.graph, opset=20, model_name="terms")
    sample = dict(zip(builder.graph.inputs, values, strict=True))
    return run(model.SerializeToString(), None, sample)


def op_types(builder):
    return [node.op_type for node in builder.graph.nodes]


def test_known_integers_add_no_nodes():
    builder = GraphBuilder(20)
    known = (builder.arange(4) * 3 + 1) % 5
    np.testing.assert_array_equal(where(known == 2, 7, known).data, [1, 4, 7, 0])
    np.testing.assert_array_equal((builder.arange(5) // 2).data, [0, 0, 1, 1, 2], strict=True)
    assert not builder.graph.nodes
    assert not builder.graph.initializers
    length = Term(builder, "length", "int64")
    assert length + 0 is length
    assert length // 1 is length
    assert (length * 2 - known).name not in builder.graph.initializers
    assert op_types(builder) == ["Mul", "Sub"]


def test_a_term_is_not_true_or_false():
    with pytest.raises(TypeError, match="when the model runs"):
        assert Term(GraphBuilder(20), "length", "int64") == 2


def test_numbers_have_the_dtype_of_the_term():
    builder = GraphBuilder(20)
    x = Term(builder, "x", "float32")
    assert (1.0 - x * 1 + 0).dtype == "float32"
    assert op_types(builder) == ["Mul", "Sub", "Add"]
    assert {a.dtype.name for a in builder.graph.initializers.values()} == {"float32"}


@pytest.mark.parametrize(("dtype", "number"), [("bool", -1), ("uint8", -1), ("int8", 128)])
def test_numbers_must_be_within_the_bounds_of_the_dtype(dtype, number):
    with pytest.raises(OverflowError, match=f"{number} out of bounds for {dtype}"):
        Term(GraphBuilder(20), "x", dtype).lift(number)


def test_terms_of_different_dtypes_do_not_mix():
    builder = GraphBuilder(20)
    x, n = Term(builder, "x", "float32"), Term(builder, "n", "int64")
    with pytest.raises(TypeError, match="Add of a term of dtype float32 and one of int64: cast"):
        x + n
    with pytest.raises(TypeError, match="choice between dtypes float32 and int64"):
        where(x < 0, x, n)


def test_the_dtype_of_an_operator_without_inputs_must_be_given():
    builder = GraphBuilder(20)
    assert builder.node("RandomUniform", result="float32", shape=[2]).dtype == "float32"
    with pytest.raises(TypeError, match="RandomUniform has no inputs: say the dtype"):
        builder.node("RandomUniform", shape=[2])


def test_an_operator_without_a_kernel_is_computed_in_a_wider_dtype():
    builder = GraphBuilder(20)
    x = Term(builder, "x", "int16")
    assert work_dtype("ReduceSum", "int16") == "int32"
    total = x.reduce_sum(0)
    assert (total.dtype, op_types(builder)) == ("int16", ["Cast", "ReduceSum", "Cast"])
    # Its indices don't have the term's dtype, and stay.
    assert x.node("ArgMax", axis=0).dtype == "int64"
    assert op_types(builder)[3:] == ["Cast", "ArgMax"]
    with pytest.raises(ConversionError, match="no Conv for float64"):
        Term(builder, "x", "float64").node("Conv", Term(builder, "w", "float64"))


@pytest.mark.parametrize("dtype", ["bool", "int16", "int64", "uint64", "float16", "float64"])
def test_where_of_every_dtype(dtype):
    x, y = np.array([0, 1, 1], dtype), np.array([1, 0, 1], dtype)
    if dtype == "uint64":
        x[1] = 2**64 - 1
    condition = np.array([True, True, False])
    (result,) = results([condition, x, y], lambda c, x, y: [where(c, x, y)])
    np.testing.assert_array_equal(result, np.where(condition, x, y), strict=True)


def test_operators_are_those_of_python():
    x, y = np.array([7, -7, 6], "int64"), np.array([2, 2, 3], "int64")
    found = results([x, y], lambda x, y: [
        x % y, x.truncated_quotient(y), x ^ y, ~x, -x, abs(x), 2 - x, x != y,
        maximum(x, y), minimum(x, 3), (x > 0) ^ (y > 2),
    ])  # fmt: skip
    wanted = [
        x % y, np.trunc(x / y).astype("int64"), x ^ y, ~x, -x, abs(x), 2 - x, x != y,
        np.maximum(x, y), np.minimum(x, 3), (x > 0) ^ (y > 2),
    ]  # fmt: skip
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)


def test_quotients_that_onnx_rounds_otherwise_are_refused():
    n = Term(GraphBuilder(20), "n", "int64")
    with pytest.raises(ValueError, match="see truncated_quotient"):
        n // -2
    with pytest.raises(TypeError, match="/ of int64: cast to a float"):
        n / 2


def test_extrema_of_floats_are_nan_where_the_first_is():
    x, y = np.array([np.nan, 1.0, 2.0]), np.array([1.0, 3.0, 1.0])
    larger, smaller = results([x, y], lambda x, y: [maximum(x, y), minimum(x, y)])
    np.testing.assert_array_equal(larger, [np.nan, 3.0, 2.0])
    np.testing.assert_array_equal(smaller, [np.nan, 1.0, 1.0])


def test_unsigned_numbers_are_negated_and_shifted():
    x = np.array([1, 2**63], "uint64")
    negative, shifted = results([x], lambda x: [-x, (x >> 1) << 1])
    np.testing.assert_array_equal(negative, -x, strict=True)
    np.testing.assert_array_equal(shifted, x >> np.uint64(1) << np.uint64(1), strict=True)


def test_lengths_are_ints_where_they_are_known():
    builder = GraphBuilder(20)
    x = Term(builder, "x", "float32", (None, 3))
    first, second = x.lengths
    assert (first.dtype, second, op_types(builder)) == ("int64", 3, ["Shape"])
    shape = builder.vector([first, 2, second])
    assert op_types(builder) == ["Shape", "Concat"]
    assert builder.graph.constant(builder.graph.nodes[-1].inputs[1]).tolist() == [2, 3]
    assert x.reshape([first, 3]).dtype == "float32"
    assert builder.graph.constant(builder.graph.nodes[-1].inputs[1]).tolist() == [-1, 3]
    x.reshape(shape)
    assert builder.graph.nodes[-1].attributes == {"allowzero": 1}
    assert x.transpose(1, 0).shape == (3, None)


def test_axes_and_entries():
    x = np.arange(6.0, dtype="float32").reshape(2, 3)
    found = results([x], lambda x: [
        x.transpose(1, 0), x.transpose(0, 1) + 0, x.flatten(), x.unsqueeze(0, 2), x.column(),
        x.gather(1), x.gather([2, 0], axis=1), x.slice(1, 3, 1), x.sizes(), x.size(-1),
        x.cumulative_sum(1), x.reduce_max([0], keepdims=True), (x > 4).any(), x.expand([4, 2, 3]),
    ])  # fmt: skip
    wanted = [
        x.T, x, x.ravel(), x[None, :, None], x[..., None],
        x[1], x[:, [2, 0]], x[:, 1:3], np.array([2, 3]), np.array(3),
        x.cumsum(1), x.max(0, keepdims=True), np.array(True), np.broadcast_to(x, (4, 2, 3)),
    ]  # fmt: skip
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)
