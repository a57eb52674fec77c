"""Names of PyTensor's nodes in the programs of XLA."""

import re

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.link.jax import jax_mode
from pytensor.link.jax.profiling.node_names import scope_name
from pytensor.scalar.basic import mul
from pytensor.tensor.elemwise import Elemwise
from tests.link.jax.programs import lowered

pytestmark = pytest.mark.usefixtures("compiled_sooner")


def shared(name, *shape):
    value = np.ones(shape, dtype="float32")
    return pytensor.shared(value, name=name, shape=shape)


def small_step(shape=(2, 3, 8, 6)):
    """Return inputs, loss and updates: convolution, normalization and pooling."""
    images = pt.tensor("images", dtype="float32", shape=shape)
    rate = pt.scalar("rate", dtype="float32")
    weight, head = shared("stem.conv.weight", 4, 3, 3, 3), shared("head.weight", 2, 4, 1, 1)
    gamma, beta = shared("stem.bn.weight", 4), shared("stem.bn.bias", 4)
    x = pt.conv2d(images, weight, border_mode=1, filter_flip=False)
    x, *_ = pt.batch_normalization_train(x, gamma, beta, axes="spatial")
    x = pt.nn.max_pool2d(pt.silu(x), 2)
    loss = (pt.conv2d(x, head, filter_flip=False) ** 2).mean()
    params = [weight, gamma, beta, head]
    updates = [(p, p - rate * g) for p, g in zip(params, pytensor.grad(loss, params), strict=True)]
    return [images, rate], loss, updates


def compiled(**options):
    inputs, loss, updates = small_step()
    return pytensor.function(
        inputs, loss, updates=updates, mode=jax_mode(**options), trust_input=True
    )


@pytest.fixture(scope="module")
def program():
    return lowered(compiled())


EXPECTED = {
    "Conv[stem.conv.weight]",
    "Conv[head.weight]",
    "ConvGradFilters[stem.conv.weight]",
    "ConvGradInput[head.weight]",
    "BatchNormalizationTrain[stem.bn.weight]",
    "BatchNormalizationTrainGrad[stem.bn.weight]",
    "Pool",
    "PoolPullback",
    "Update[stem.bn.bias]",
}


@pytest.mark.by_default("compiled")
@pytest.mark.parametrize("stage", ["lowered", "compiled"])
def test_names_reach_xla(program, stage):
    if stage == "lowered":
        paths = re.findall(r'loc\("(jit\([^"]*)"', program.as_text(debug_info=True))
    else:
        paths = re.findall(r'op_name="(jit\([^"]*)"', program.compile().as_text())
    scopes = {part for path in paths for part in path.split(";")[0].split("/")[1:2]}
    assert scopes >= EXPECTED


def test_every_operation_has_a_scope(program):
    function = compiled()
    names = {scope_name(node.op, node) for node in function.maker.fgraph.apply_nodes}
    paths = re.findall(r'loc\("(jit\([^"]*/[^"]*)"', program.as_text(debug_info=True))
    assert len(paths) > 50
    assert {path.split("/")[1] for path in paths} <= names


def test_without_names():
    text = lowered(compiled(named_scopes=False)).as_text(debug_info=True)
    assert "conv_general_dilated" in text
    assert "Conv[" not in text


@pytest.mark.slow
def test_names_change_no_result():
    images = np.random.default_rng(0).normal(size=(2, 3, 8, 6)).astype("float32")
    losses = [
        float(compiled(named_scopes=names)(images, np.float32(0.1))) for names in (True, False)
    ]
    assert losses[0] == losses[1]
    assert losses[0] > 0


def name_of(variable):
    return scope_name(variable.owner.op, variable.owner)


def test_a_node_is_named_after_what_it_reads():
    x, filters, v = pt.tensor4("x"), pt.tensor4("filters"), pt.vector("weights")
    assert name_of(pt.conv2d(x, filters)) == "Conv[filters]"  # not its images
    assert name_of(pt.exp(v)) == "Elemwise.Exp[weights]"
    assert name_of(pt.sum(v * v)) == "Sum.Add"
    assert scope_name(pt.exp(v).owner.op) == "Elemwise.Exp"


@pytest.mark.parametrize("swap", [False, True])
def test_an_array_counts_more_than_a_scalar(swap):
    inputs = [pt.scalar("rate"), pt.vector("weights")]
    node = Apply(Elemwise(mul), inputs[::-1] if swap else inputs, [pt.vector()])
    assert scope_name(node.op, node) == "Elemwise.Mul[weights]"


def test_a_node_without_such_inputs_is_named_after_its_output():
    output = pt.exp(pt.exp(pt.vector("v")))
    assert name_of(output) == "Elemwise.Exp"
    output.name = "a b/c:d"
    assert name_of(output) == "Elemwise.Exp[a_b_c_d]"
    assert name_of(pt.vector("v") * 2.0) == "Elemwise.Mul[v]"  # not after a constant
