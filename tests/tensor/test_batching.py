"""A batch of a graph of our Ops is a graph of our Ops: no `Blockwise` repeats one."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.replace import _vectorize_node, vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.blockwise import Blockwise, vectorize_node_fallback
from pytensor.tensor.conv.ops import BaseConv, Conv
from tests.link.operators import OPERATORS
from tests.tensor.ops import is_ours, op_classes
from tests.tensor.test_shapes import MORE

PY = Mode("py", "fast_compile")
IN_COMPILED_GRAPHS = "made by a rewrite when a function is compiled, where nothing is vectorized"
WITHOUT_A_RULE = {
    "BaseConv": "no Op by itself",
    "Barrier": IN_COMPILED_GRAPHS,
    "ChannelsLast": IN_COMPILED_GRAPHS,
    "ChooseAmong": IN_COMPILED_GRAPHS,
    "GradientsOp": "no Op by itself",
    "KnownLength": IN_COMPILED_GRAPHS,
    "LengthsTuple": IN_COMPILED_GRAPHS,
    "Loop": IN_COMPILED_GRAPHS,
    "SharedNumbers": IN_COMPILED_GRAPHS,
    "SumOfSquares": "made of all parameters of a training step, by an optimizer",
    "Update": IN_COMPILED_GRAPHS,
}


def test_every_op_has_a_rule_or_a_reason():
    without = {
        c.__name__ for c in op_classes() if _vectorize_node.dispatch(c) is vectorize_node_fallback
    }
    assert without == set(WITHOUT_A_RULE)


def repeated(outputs):
    """Return the Ops of ours that a `Blockwise` repeats."""
    nodes = {v.owner for v in ancestors(outputs) if v.owner is not None}
    return [n.op for n in nodes if isinstance(n.op, Blockwise) and is_ours(n.op)]


def outputs_of(build, lengths, order, dtype="float64"):
    """Return inputs and the result, its gradients, and those of these."""
    inputs = [pt.tensor(shape=shape, dtype=dtype) for shape in lengths]
    outputs = [build(*inputs)]
    if outputs[0].type.dtype == dtype:
        wanted = [(outputs[0] ** 3).sum()]
        for _ in range(order):
            wanted = pytensor.grad(
                sum((v**2).sum() for v in wanted), inputs, disconnected_inputs="ignore"
            )
            outputs += wanted
    return inputs, outputs


def check(build, lengths, batched, *, batch=(3,), order=1, mode=PY, **tolerance):
    """Compare a batch of some of the inputs with a loop."""
    rng = np.random.default_rng(2)
    inputs, outputs = outputs_of(build, lengths, order)
    replace, values = {}, []
    for i, (x, shape) in enumerate(zip(inputs, lengths, strict=True)):
        here = batch if i in batched else ()
        if here:
            replace[x] = pt.tensor(shape=(*here, *shape), dtype=x.type.dtype)
        values.append(rng.normal(size=(*here, *shape)))
    vectorized = vectorize_graph(outputs, replace)
    assert not repeated(vectorized)
    for out, v in zip(outputs, vectorized, strict=True):
        assert v.type.shape in (out.type.shape, (*batch, *out.type.shape))
    assert vectorized[0].type.ndim > outputs[0].type.ndim
    f = pytensor.function(
        [replace.get(x, x) for x in inputs], vectorized, mode=mode, on_unused_input="ignore"
    )
    one = pytensor.function(inputs, outputs, mode=PY, on_unused_input="ignore")
    results = f(*values)
    for index in np.ndindex(batch):
        own = [v[index] if i in batched else v for i, v in enumerate(values)]
        for result, expected in zip(results, one(*own), strict=True):
            result = result[index] if result.ndim > expected.ndim else result
            np.testing.assert_allclose(result, expected, **{"rtol": 1e-9} | tolerance)


CONVOLUTIONS = [n for n in OPERATORS if n.startswith("conv") and "empty" not in n]


@pytest.mark.parametrize("batched", [(0,), (1,), (0, 1)], ids=["images", "filters", "both"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name, batched):
    check(*OPERATORS[name], batched, atol=1e-9)


POOLS = [n for n in (*OPERATORS, *MORE) if "pool" in n and "rest" not in n and "3d" not in n]
RESIZES = ["resize, scale", "resize, antialias", "resize, linear, tf_crop_and_resize"]
TOPKS = [n for n in (*OPERATORS, *MORE) if n.startswith("topk")]


@pytest.mark.parametrize("name", [*POOLS, *RESIZES, *TOPKS])
def test_ops_of_one_input(name):
    build, lengths = (OPERATORS | MORE)[name]
    check(build, lengths, (0,), order=1 if "resize" in name else 2, atol=1e-9)


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2)])
def test_resize_of_first_axes(axes):
    check(lambda x: pt.resize(x, size=(3, 7), axes=axes, mode="linear"), [(2, 4, 5)], (0,))


def test_pools_of_all_axes():
    check(lambda x: pt.max_pool2d(x, 2), [(4, 6)], (0,), order=2)


NORMALIZATIONS = [n for n in OPERATORS if "normalization" in n]


@pytest.mark.parametrize("batched", ["image", "parameters", "all"])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalizations(name, batched):
    build, lengths = OPERATORS[name]
    every = range(len(lengths))
    batched = {"image": (0,), "parameters": tuple(every[1:]), "all": tuple(every)}[batched]
    check(build, lengths, batched, atol=1e-9)


def test_normalization_over_all_axes():
    check(lambda x, w: pt.layer_normalization(x, w, axis=0), [(3, 4), (3, 4)], (0,))


@pytest.mark.parametrize("batched", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", ["broadcast", "broadcast, its gradient"])
def test_broadcasting(name, batched):
    check(*MORE[name], batched)


@pytest.mark.parametrize(
    "name", ["conv2d, groups", "pool_2d, max", "layer_normalization", "conv2d_transpose"]
)
def test_two_axes_of_a_batch_one_of_them_repeated(name):
    build, lengths = OPERATORS[name]
    check(build, lengths, (0,), batch=(2, 3), atol=1e-9)
    inputs, (out,) = outputs_of(build, lengths, 0)
    shapes = [(2, 1), *[(1, 3)] * (len(lengths) - 1)]
    new = [
        pt.tensor(shape=(*batch, *shape), dtype="float64")
        for batch, shape in zip(shapes, lengths, strict=True)
    ]
    vectorized = vectorize_graph(out, dict(zip(inputs, new, strict=True)))
    rng = np.random.default_rng(0)
    values = [rng.normal(size=v.type.shape) for v in new]
    result = pytensor.function(new, vectorized, mode=PY)(*values)
    one = pytensor.function(inputs, out, mode=PY)
    first = len(vectorized.type.shape) - out.type.ndim
    assert vectorized.type.shape[first:] == out.type.shape
    for i, j in np.ndindex(result.shape[:2]):
        own = [v[min(i, len(v) - 1), min(j, v.shape[1] - 1)] for v in values]
        np.testing.assert_allclose(result[i, j], one(*own), atol=1e-9)


def unknown(name, batched):
    build, lengths = (OPERATORS | MORE)[name]
    inputs = [pt.tensor(shape=(None,) * len(shape), dtype="float64") for shape in lengths]
    new = [
        pt.tensor(shape=(None,) * (len(shape) + (i in batched)), dtype="float64")
        for i, shape in enumerate(lengths)
    ]
    out = build(*inputs)
    outputs = [out, pytensor.grad((out**2).sum(), inputs[0])]
    return inputs, new, outputs, vectorize_graph(outputs, dict(zip(inputs, new, strict=True)))


@pytest.mark.parametrize("name", ["conv2d, groups", "max_unpool2d", "resize, scale", "topk, 1"])
@pytest.mark.parametrize("mode", ["py", "JAX"])
def test_lengths_that_only_run_time_knows(name, mode):
    if mode == "JAX":
        pytest.importorskip("jax")
    _, lengths = (OPERATORS | MORE)[name]
    inputs, new, outputs, vectorized = unknown(name, (0,))
    assert not repeated(vectorized)
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(3, *lengths[0])), *(rng.normal(size=s) for s in lengths[1:])]
    f = pytensor.function(new, vectorized, mode=PY if mode == "py" else mode)
    one = pytensor.function(inputs, outputs, mode=PY)
    for i, results in enumerate(zip(*f(*values), strict=True)):
        for result, expected in zip(results, one(values[0][i], *values[1:]), strict=True):
            np.testing.assert_allclose(result, expected, atol=1e-9)
    assert f(values[0][:0], *values[1:])[0].shape[0] == 0


def test_a_batch_of_filters_whose_number_is_not_known_repeats_the_op():
    *_, vectorized = unknown("conv2d, groups", (0, 1))
    assert {type(op.core_op) for op in repeated(vectorized)} == {
        Conv,
        *(c for c in BaseConv.__subclasses__() if "Grad" in c.__name__),
    }


def test_batches_of_different_lengths_are_refused():
    x, w = pt.tensor4("x"), pt.tensor4("w")
    xs = pt.tensor("xs", shape=(2, *[None] * 4))
    ws = pt.tensor("ws", shape=(3, *[None] * 4))
    with pytest.raises(ValueError, match="batches of different lengths"):
        vectorize_graph(pt.conv2d(x, w), {x: xs, w: ws})
