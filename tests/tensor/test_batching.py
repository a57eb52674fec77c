"""A batch of a graph of our Ops is a graph of our Ops: no `Blockwise` repeats one.

Batches of each operator and its gradients are in `tests.test_operators`.
"""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.replace import _vectorize_node, vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import Join, Split
from pytensor.tensor.blockwise import vectorize_node_fallback
from pytensor.tensor.conv.ops import BaseConv, Conv, ConvGradInput
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from tests.catalogue.examples import Example, parameter
from tests.catalogue.operators import OPERATORS
from tests.tensor.ops import op_classes, repeated

PY = Mode("py", "fast_compile")
IN_COMPILED_GRAPHS = "made by a rewrite when a function is compiled, where nothing is vectorized"
WITHOUT_A_RULE = {
    "BaseConv": "no Op by itself",
    "Barrier": IN_COMPILED_GRAPHS,
    "ChannelsLast": IN_COMPILED_GRAPHS,
    "ChooseAmong": IN_COMPILED_GRAPHS,
    "FirstRows": IN_COMPILED_GRAPHS,
    "GradientsOp": "no Op by itself",
    "Kept": IN_COMPILED_GRAPHS,
    "KnownLength": IN_COMPILED_GRAPHS,
    "Loop": IN_COMPILED_GRAPHS,
    "SetWindow": IN_COMPILED_GRAPHS,
    "SharedNumbers": IN_COMPILED_GRAPHS,
    "Spread": "made by pooling's conversion for JAX",
    "SumOfSquares": "made of all parameters of a training step, by an optimizer",
    "Update": IN_COMPILED_GRAPHS,
    "Window": IN_COMPILED_GRAPHS,
}


def test_every_op_has_a_rule_or_a_reason():
    without = {
        c.__name__ for c in op_classes() if _vectorize_node.dispatch(c) is vectorize_node_fallback
    }
    assert without == set(WITHOUT_A_RULE)


def example(build, *shapes):
    return Example("of its own", build, tuple(parameter(*shape) for shape in shapes))


def check(example, batched, *, batch=(3,), order=1, mode=PY, **tolerance):
    """Compare a batch of some of the inputs with a loop."""
    rng = np.random.default_rng(2)
    inputs, outputs, _ = example.graph(known="all", order=order)
    replace, values = {}, []
    for i, (x, entry) in enumerate(zip(inputs, example.inputs, strict=True)):
        here = batch if i in batched else ()
        if here:
            replace[x] = pt.tensor(shape=(*here, *entry.shape), dtype=x.type.dtype)
        values.append(entry.value(rng, batch=here))
    vectorized = vectorize_graph(outputs, replace)
    assert not repeated(vectorized)
    for v in ancestors(vectorized):
        assert v.owner is None or str(v.owner)  # compilation writes nodes into comments
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


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2)])
def test_resize_of_first_axes(axes):
    check(example(lambda x: pt.resize(x, size=(3, 7), axes=axes, mode="linear"), (2, 4, 5)), (0,))


def test_pools_of_all_axes():
    check(example(lambda x: pt.nn.max_pool2d(x, 2), (4, 6)), (0,), order=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["pool_2d, max, ceil", "topk, 1", "layer_norm, two axes", "group_norm", "batch_norm, training"],
)
def test_second_derivatives(name):
    every = tuple(range(len(OPERATORS[name].inputs)))
    check(OPERATORS[name], every, order=2, atol=1e-8)


def test_normalization_over_all_axes():
    check(example(lambda x, w: pt.nn.layer_norm(x, (3, 4), w), (3, 4), (3, 4)), (0,))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv2d, groups", "pool_2d, max", "layer_norm, two axes"])
def test_two_axes_of_a_batch_one_of_them_repeated(name):
    example = OPERATORS[name]
    check(example, (0,), batch=(2, 3), atol=1e-9)
    inputs, (out,), _ = example.graph(known="all")
    shapes = [(2, 1), *[(1, 3)] * (len(inputs) - 1)]
    new = [
        pt.tensor(shape=(*batch, *shape), dtype="float64")
        for batch, shape in zip(shapes, example.shapes, strict=True)
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
    """Return what `vectorize_graph` takes and gives, of the result and its first gradient."""
    inputs, outputs, _ = OPERATORS[name].graph(order=1)
    outputs = outputs[:2]
    new = [
        pt.tensor(shape=(None,) * (x.type.ndim + (i in batched)), dtype=x.type.dtype)
        for i, x in enumerate(inputs)
    ]
    return inputs, new, outputs, vectorize_graph(outputs, dict(zip(inputs, new, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["conv2d, groups", "max_unpool2d, of its pooling", "resize, scale", "topk, 1"]
)
@pytest.mark.parametrize("mode", ["py", "JAX"])
def test_lengths_that_only_run_time_knows(name, mode):
    if mode == "JAX":
        pytest.importorskip("jax")
    inputs, new, outputs, vectorized = unknown(name, (0,))
    assert not repeated(vectorized)
    first, *others = OPERATORS[name].inputs
    rng = np.random.default_rng(0)
    values = [first.value(rng, batch=(3,)), *(entry.value(rng) for entry in others)]
    f = pytensor.function(new, vectorized, mode=PY if mode == "py" else mode)
    one = pytensor.function(inputs, outputs, mode=PY)
    for i, results in enumerate(zip(*f(*values), strict=True)):
        for result, expected in zip(results, one(values[0][i], *values[1:]), strict=True):
            np.testing.assert_allclose(result, expected, atol=1e-9)
    assert f(values[0][:0], *values[1:])[0].shape[0] == 0


def test_a_batch_of_filters_whose_number_is_not_known_repeats_the_op():
    *_, vectorized = unknown("conv2d, groups", (0, 1))
    assert {type(op.core_op) for op in repeated(vectorized)} == {Conv, ConvGradInput}


@pytest.mark.parametrize("batch", [(0,), (3,), (2, 0)])
@pytest.mark.parametrize("open_lengths", [False, True])
@pytest.mark.parametrize("batched", [(0,), (1,)], ids=["images", "filters"])
def test_batches_of_nothing(batched, open_lengths, batch):
    """Either the batch has no elements or each has no images."""
    shapes = [(2 * (0 in batch), 4, 5, 6), (6, 2, 2, 3)]
    inputs = [pt.tensor(shape=(None,) * 4 if open_lengths else shape) for shape in shapes]
    replace = {
        inputs[i]: pt.tensor(shape=(*([None] if open_lengths else batch[:1]), *batch[1:], *v))
        for i, v in ((i, inputs[i].type.shape) for i in batched)
    }
    out = vectorize_graph(pt.conv2d(*inputs, num_groups=2), replace)
    given = [replace.get(x, x) for x in inputs]
    outputs = [out, *pytensor.grad((out**2).sum(), given)]
    values = [np.ones((*(batch if i in batched else ()), *shape)) for i, shape in enumerate(shapes)]
    found = pytensor.function(given, outputs, mode=PY)(*values)
    assert found[0].shape == (*batch, shapes[0][0], 6, 4, 4)
    for gradient, value in zip(found[1:], values, strict=True):
        np.testing.assert_equal(gradient, np.zeros_like(value))


def test_batches_of_different_lengths_are_refused():
    x, w = pt.tensor4("x"), pt.tensor4("w")
    xs = pt.tensor("xs", shape=(2, *[None] * 4))
    ws = pt.tensor("ws", shape=(3, *[None] * 4))
    with pytest.raises(ValueError, match="batches of different lengths"):
        vectorize_graph(pt.conv2d(x, w), {x: xs, w: ws})


def network(x, first, scale, second):
    """Return a convolutional network's outputs, of a batch of images."""
    h = pt.conv2d(x, first, border_mode="half", filter_flip=False)
    h = pt.silu(pt.batch_normalization(h, scale, 0 * scale, 0 * scale, 1 + 0 * scale))
    h = pt.resize(pt.nn.max_pool2d(h, 2) + pt.nn.avg_pool2d(h, 2), scale=2, mode="linear")
    return pt.nn.layer_norm(pt.conv2d(h, second), (4, 5, 4)).max(axis=(2, 3))


NETWORK = [(2, 3, 6, 4), (5, 3, 3, 3), (5,), (4, 5, 2, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["JAX", "ONNX"])
@pytest.mark.parametrize("batched", [(0,), (1, 2, 3)], ids=["images", "weights"])
def test_networks_in_every_mode(mode, batched):
    pytest.importorskip({"JAX": "jax", "ONNX": "onnxruntime"}[mode])
    check(example(network, *NETWORK), batched, mode=mode, rtol=1e-5, atol=1e-5)


def elementwise(h):
    return pt.silu(h) + 1


def split_and_joined(h):
    first, rest = pt.split(h, [2, 3], axis=1)
    return pt.concatenate([pt.silu(first), rest], axis=1)


def two_convolutions(between):
    return lambda x, first, second: pt.conv2d(between(pt.conv2d(x, first)), second)


IMAGE_AND_FILTERS = [(2, 3, 6, 5), (5, 3, 2, 2), (4, 5, 2, 1)]


@pytest.mark.parametrize("batched", [(0,), (1,), (0, 1)])
def test_batches_of_what_is_split_and_joined(batched):
    check(example(two_convolutions(split_and_joined), *IMAGE_AND_FILTERS), batched)


@pytest.mark.parametrize(
    ("between", "batched"),
    [*((elementwise, some) for some in [(0,), (1, 2), (0, 1, 2)]), (split_and_joined, (0,))],
)
def test_what_lies_between_two_convolutions_moves_nothing(between, batched):
    """Between the first and the second convolution no batch is split that is joined again."""
    inputs = [pt.tensor(shape=shape, dtype="float64") for shape in IMAGE_AND_FILTERS]
    out = two_convolutions(between)(*inputs)
    replace = {
        v: pt.tensor(shape=(4, *v.type.shape), dtype="float64")
        for i, v in enumerate(inputs)
        if i in batched
    }
    vectorized = vectorize_graph(out, replace)
    last = next(
        v.owner for v in ancestors([vectorized]) if v.owner and isinstance(v.owner.op, BaseConv)
    )
    ops = [v.owner.op for v in ancestors([last.inputs[0]]) if v.owner is not None]
    first = next(i for i, op in enumerate(ops) if isinstance(op, BaseConv))
    assert all(isinstance(op, Elemwise | DimShuffle | Join | Split) for op in ops[:first])


def test_pt_vectorize():
    rng = np.random.default_rng(0)
    images, filters = rng.normal(size=(4, 2, 3, 6, 5)), rng.normal(size=(5, 3, 2, 2))
    xs, w = pt.tensor(shape=images.shape), pt.tensor(shape=filters.shape)
    out = pt.vectorize(
        lambda x, w: pt.conv2d(x, w).mean(axis=(2, 3)), signature="(n,c,h,w),(o,c,k,l)->(n,o)"
    )(xs, w)
    assert not repeated([out])
    result = pytensor.function([xs, w], out, mode=PY)(images, filters)
    for image, own in zip(images, result, strict=True):
        wanted = pt.conv2d(image, filters).mean(axis=(2, 3)).eval(mode=PY)
        np.testing.assert_allclose(own, wanted)


@pytest.mark.slow
def test_a_model_over_draws_of_its_parameters():
    """As PyMC has them: one vector of all parameters, a log-density and its gradient."""
    shapes = NETWORK[1:]
    ends = np.cumsum([0, *map(np.prod, shapes)])
    theta = pt.tensor("theta", shape=(int(ends[-1]),), dtype="float64")
    weights = [
        theta[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], shapes, strict=False)
    ]
    rng = np.random.default_rng(3)
    x, y = pt.constant(rng.normal(size=NETWORK[0])), pt.constant(rng.normal(size=(2, 4)))
    logp = -((y - network(x, *weights)) ** 2).sum() / 2 - (theta**2).sum() / 2
    outputs = [logp, pytensor.grad(logp, theta)]
    draws = pt.tensor("draws", shape=(2, 3, *theta.type.shape), dtype="float64")
    vectorized = vectorize_graph(outputs, {theta: draws})
    assert not repeated(vectorized)
    values = rng.normal(size=draws.type.shape)
    logps, gradients = pytensor.function([draws], vectorized, mode=PY)(values)
    one = pytensor.function([theta], outputs, mode=PY)
    for i, j in np.ndindex(2, 3):
        expected = one(values[i, j])
        np.testing.assert_allclose(logps[i, j], expected[0])
        np.testing.assert_allclose(gradients[i, j], expected[1], atol=1e-9)
