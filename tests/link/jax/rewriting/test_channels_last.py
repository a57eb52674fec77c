import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.rewriting.channels_last import (
    TO_FIRST,
    TO_LAST,
    ChannelsLast,
    undo_channels_last,
)
from pytensor.tensor.batchnorm import BatchNormalization, BatchNormalizationTrain
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.conv.ops import BaseConv
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.pool import lp_pool
from tests.link.jax.programs import nodes_of
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

RNG = np.random.default_rng(0)


def network(x, w, v, gamma, beta):
    """Build one of each operator, joined and split along two axes."""
    h = pt.conv2d(x, w, "half", (1, 2)) + gamma[None, :, None, None]
    h, mean, *_ = pt.batch_normalization_train(h, gamma, beta, "spatial", 1e-3)
    h = pt.silu(h)
    h = pt.concatenate([h, pt.nn.max_pool2d(h, (3, 2), 1, (1, 0))[..., :1]], axis=3)
    first, second = pt.split(h, [1, 3], n_splits=2, axis=1)
    h = pt.concatenate([second, first], axis=1)
    h = pt.resize(h, scale=2) * pt.resize(h, scale=2, mode="linear")
    h = pt.batch_normalization(pt.conv2d(h, v, num_groups=4), gamma, beta, mean, gamma)
    return pt.nn.avg_pool2d(h, 2)


@pytest.fixture(scope="module")
def graph():
    x = pt.tensor("x", shape=(None, 3, 6, 8))
    w, v = pt.tensor("w", shape=(4, 3, 3, 2)), pt.tensor("v", shape=(4, 1, 2, 3))
    gamma, beta = pt.tensor("gamma", shape=(4,)), pt.tensor("beta", shape=(4,))
    inputs = [x, w, v, gamma, beta]
    out = network(*inputs)
    return inputs, [out, *pytensor.grad(pt.sqr(out).sum(), inputs)]


def values(inputs):
    return [RNG.uniform(0.5, 1.5, [2 if n is None else n for n in v.type.shape]) for v in inputs]


@pytest.mark.slow
def test_same_results(graph):
    inputs, outputs = graph
    compare_jax_and_py(inputs, outputs, values(inputs))


def test_images_are_moved_at_the_borders_only(graph):
    inputs, outputs = graph
    f = pytensor.function(inputs, outputs, mode="JAX")
    assert not nodes_of(f, BaseConv)
    assert len(nodes_of(f, ChannelsLast)) >= 6
    # twice would be once in either form
    assert len(nodes_of(f, BatchNormalizationTrain)) == 1
    converted = (ChannelsLast, Elemwise, BatchNormalizationTrain)
    for node in nodes_of(f, DimShuffle):
        (image,) = node.inputs
        if node.op.new_order not in (TO_LAST, TO_FIRST) or image.type.shape.count(1) >= 2:
            continue  # something else, or one number per channel
        if image.owner is not None and isinstance(image.owner.op, converted):
            clients = [c for c, _ in f.maker.fgraph.clients[node.outputs[0]]]
            assert not any(isinstance(getattr(c, "op", None), converted) for c in clients)


def test_one_channel_and_broadcasting():
    """Axes of length 1 move with the others."""
    x, w = pt.tensor("x", shape=(2, 1, 5, 1)), pt.tensor("w", shape=(1, 1, 3, 1))
    row = pt.tensor("row", shape=(1, 1, 1, 7))
    out = pt.conv2d(x, w) * row
    inputs = [x, w, row]
    compare_jax_and_py(inputs, [out, *pytensor.grad(out.sum(), inputs)], values(inputs))


def test_sums_over_other_axes():
    x, w = pt.tensor("x", shape=(2, 3, 5, 4)), pt.tensor("w", shape=(2, 3, 2, 2))
    h = pt.conv2d(x, w)
    outputs = [h.sum(axis=1), h.sum(), h.max(axis=(2, 3)), h.sum(axis=(0, 2, 3)), h.argmax(1)]
    compare_jax_and_py([x, w], outputs, values([x, w]))


def test_other_statistics():
    """Batch normalization over other axes keeps its form."""
    x, w = pt.tensor("x", shape=(2, 3, 5, 4)), pt.tensor("w", shape=(2, 3, 2, 2))
    h = pt.conv2d(x, w)
    shape = (2, 4, 3)
    out, *_ = pt.batch_normalization_train(h, np.ones(shape), np.zeros(shape), "per-activation")
    compare_jax_and_py([x, w], [out], values([x, w]))


@pytest.mark.by_default("1")
@pytest.mark.parametrize("n_spatial", [1, 3])
def test_other_ranks_are_left_alone(n_spatial):
    x, w = (pt.tensor(n, shape=(2, 2, *(3,) * n_spatial)) for n in "xw")
    out = pt.tanh(conv(x, w))
    f = pytensor.function([x, w], out, mode="JAX")
    assert not nodes_of(f, ChannelsLast)
    compare_jax_and_py([x, w], [out], values([x, w]))


def test_graphs_without_convolution_are_left_alone():
    x = pt.tensor("x", shape=(2, 3, 4, 5))
    f = pytensor.function([x], pt.nn.max_pool2d(pt.exp(x), 2), mode="JAX")
    assert not nodes_of(f, ChannelsLast)


X, W = pt.tensor("x", shape=(2, 3, 5, 8)), pt.tensor("w", shape=(4, 3, 2, 3))
FUNCTIONS = {
    "conv": lambda h: h**2,
    "transposed conv": lambda h: conv_transpose(h, W, subsample=(2, 1)) ** 2,
    "lp pool": lambda h: lp_pool(h**2 + 0.1, 3, (2, 3), (1, 2)),
    "max pool": lambda h: pt.nn.max_pool2d(h, (2, 3), 1) ** 2,
    "average pool": lambda h: pt.nn.avg_pool2d(h, (2, 3), (1, 2)) ** 2,
    "adaptive pool": lambda h: pt.nn.adaptive_avg_pool2d(h, (2, 3)) ** 2,
    "adaptive max pool": lambda h: pt.nn.adaptive_max_pool2d(h, (2, 3)) ** 2,
    "max pool and back": lambda h: (
        pt.nn.max_unpool2d(*pt.nn.max_pool2d(h, 2, return_indices=True), 2) ** 2
        * pt.exp(h[..., :4, :6])
    ),
    "linear resize": lambda h: pt.resize(h, scale=(2, 1.5), mode="linear") ** 2,
    "nearest resize": lambda h: pt.resize(h, scale=(3, 2)) ** 2,
    "batch normalization": lambda h: (
        pt.batch_normalization_train(h, pt.ones(4), pt.ones(4), "spatial")[0] ** 3
    ),
    "statistics": lambda h: sum(
        v**2
        for v in pt.batch_normalization_train(
            h, pt.ones(4), pt.ones(4), "spatial", running_mean=pt.ones(4), running_var=pt.ones(4)
        )[1:]
    ),
    "fixed batch normalization": lambda h: (
        pt.batch_normalization(h, pt.ones(4), h.mean((0, 2, 3)), pt.ones(4), pt.ones(4)) ** 2
    ),
    "layer normalization": lambda h: pt.nn.layer_norm(h, 6, pt.ones(6), pt.ones(6)) ** 3,
    "group normalization": lambda h: pt.nn.group_norm(h, 2, pt.ones(4), pt.ones(4)) ** 3,
    "softmax of channels": lambda h: pt.special.softmax(h, axis=1) ** 2,
    "joined": lambda h: pt.concatenate([lp_pool(h, 2, (2, 2)), h[:, :, ::2, ::2]], axis=-3) ** 2,
}


@pytest.mark.by_default("nearest resize")
@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_gradients(name):
    """Some have several images as results: the gradient of a gradient that isn't linear."""
    loss = FUNCTIONS[name](pt.conv2d(X, W)).sum()
    outputs, wrt = [loss], [X, W]
    for _ in range(2):
        gradients = pytensor.grad(outputs[-1], wrt)
        outputs = [*outputs, *gradients, sum((g**2).sum() for g in gradients)]
    compare_jax_and_py([X, W], outputs, values([X, W]))


@pytest.mark.slow
def test_third_gradient():
    loss = lp_pool(pt.conv2d(X, W), 2, (2, 2)).sum()
    for _ in range(3):
        loss = (pytensor.grad(loss, W) ** 2).sum()
    compare_jax_and_py([X, W], [loss], values([X, W]))


@pytest.mark.slow
def test_undo(graph):
    """Readers of compiled graphs get the usual Ops back, with the same results."""
    inputs, outputs = graph
    f = pytensor.function(inputs, outputs, mode="JAX")
    fgraph = f.maker.fgraph.clone()
    undo_channels_last(fgraph)
    assert not any(isinstance(n.op, ChannelsLast) for n in fgraph.apply_nodes)
    again = pytensor.function(fgraph.inputs, fgraph.outputs, mode="JAX")
    sample = values(inputs)
    for first, second in zip(f(*sample), again(*sample), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-9)


def test_undo_leaves_what_a_user_wrote():
    x, *others = pt.tensor4("x"), *(pt.vector(name) for name in "abcd")
    out = BatchNormalization(axes=(0, 1, 2), epsilon=1e-3)(x, *others)
    fgraph = FunctionGraph([x, *others], [out], clone=False)
    undo_channels_last(fgraph)
    assert fgraph.outputs == [out]
