import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.link.jax.rewriting.recompute import Barrier, barrier
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
)
from pytensor.tensor.elemwise import Elemwise
from tests.link.jax.programs import lowered, nodes_of
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

RNG = np.random.default_rng(0)
SHAPE = (4, 3, 8, 8)


def network(activation):
    """Return two normalized layers' loss, parameters, and the second's normalized image."""
    x = pt.tensor("x", shape=SHAPE)
    params = [
        pt.tensor(name, shape=(3,)) for name in ("gamma", "beta", "second_gamma", "second_beta")
    ]
    h = x
    for gamma, beta in (params[:2], params[2:]):
        normalized, *_ = pt.batch_normalization_train(h, gamma, beta, "spatial", 1e-3)
        h = activation(normalized)
    return x, params, pt.sqr(h).mean(), normalized


def compiled(activation, mode="JAX"):
    x, params, loss, _ = network(activation)
    return pytensor.function([x, *params], [loss, *pytensor.grad(loss, [x, *params])], mode=mode)


@pytest.mark.slow
def test_same_results():
    x, params, loss, normalized = network(pt.silu)
    outputs = [loss, normalized, *pytensor.grad(loss, [x, *params])]
    values = [RNG.normal(size=v.type.shape) for v in (x, *params)]
    compare_jax_and_py([x, *params], outputs, values)


@pytest.mark.by_default("silu")
@pytest.mark.slow
@pytest.mark.parametrize("activation", [pt.silu, pt.nn.mish])
def test_the_backward_pass_reads_no_normalized_image(activation):
    function = compiled(activation)
    fgraph = function.maker.fgraph
    layers = nodes_of(function, BatchNormalizationTrain)
    assert len(layers) == len(nodes_of(function, Barrier))
    assert len(layers) == len(nodes_of(function, BatchNormalization))
    for node in layers:
        clients = [client.op for client, _ in fgraph.clients[node.outputs[0]]]
        assert [type(op.scalar_op).__name__.lower() for op in clients] == [activation.__name__]
    for node in nodes_of(function, BatchNormalizationTrainGrad):
        assert all(isinstance(v.owner.op, Barrier) for v in node.inputs[2:4])
    for node in nodes_of(function, BatchNormalization):
        assert all(isinstance(v.owner.op, Barrier) for v in node.inputs[3:5])
        assert all(isinstance(client.op, Elemwise) for client, _ in fgraph.clients[node.outputs[0]])


def test_without_gradients_nothing_is_recomputed():
    x, params, loss, normalized = network(pt.silu)
    function = pytensor.function([x, *params], [loss, normalized + 1], mode="JAX")
    assert not nodes_of(function, Barrier)


def test_without_an_activation_the_image_is_kept():
    """Whoever reads it, reads the one that the forward pass has made."""
    function = compiled(lambda v: v * v)
    assert not nodes_of(function, BatchNormalization)
    assert len(nodes_of(function, Barrier)) == 2


@pytest.mark.slow
def test_xla_keeps_less():
    """Of a chain of layers: without the rewrite, it holds two more images a layer."""
    x = pt.tensor("x", dtype="float32", shape=(8, 16, 32, 32))
    params = [pytensor.shared(np.ones(16, "float32"), shape=(16,)) for _ in range(12)]
    h = x
    for gamma, beta in zip(params[::2], params[1::2], strict=True):
        h = pt.silu(pt.batch_normalization_train(pt.sqr(h), gamma, beta, "spatial", 1e-3)[0])
    gradients = pytensor.grad(pt.sqr(h).mean(), params)

    def temporary(mode):
        function = pytensor.function([x], gradients, mode=mode)
        return lowered(function).compile().memory_analysis().temp_size_in_bytes

    usual = get_mode("JAX").excluding("jax_recompute_normalized")
    image = 8 * 16 * 32 * 32 * 4
    assert temporary("JAX") < temporary(usual) - 4 * image


def test_barrier_is_the_identity():
    x, y = pt.vector("x"), pt.matrix("y")
    values = [np.arange(3.0), np.ones((2, 2))]
    outputs = barrier(x, y)
    compare_jax_and_py([x, y], outputs, values)
    assert [
        v.eval({x: values[0], y: values[1]}, mode="FAST_COMPILE").tolist() for v in outputs
    ] == [v.tolist() for v in values]
