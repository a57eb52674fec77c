"""YOLO11n in mixed precision: blocks against float32, and the whole training step.

Of random weights and a small image the gradient is ill-conditioned: deep layers normalize a few
values a channel, and rounding the weights alone, before all is computed in float32, turns it by 20
degrees.  So the backward pass, which isn't ill-conditioned, is compared by itself.
"""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from blocks import C2PSA, SPPF
from data.loader import Batch
from model import YOLO11n
from training.recipe import Rates, Recipe
from training.train_step import TrainStep

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.graph.traversal import ancestors
from pytensor.link.jax import jax_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.mode.conversion import GraphWithConverter
from pytensor.link.jax.mode.precision import in_mixed_precision, in_single
from pytensor.link.jax.target import compiling_for
from pytensor.tensor.precision import full_precision
from tests.examples.yolo11n_golden import ZERO
from tests.link.jax.mode.test_precision import LOW, SINGLE, equations, products

pytestmark = pytest.mark.training

SIZE, BATCH, MAX_BOXES = 64, 4, 4


def cosine(a, b):
    a, b = np.asarray(a, dtype="float64").ravel(), np.asarray(b, dtype="float64").ravel()
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def error(got, expected):
    """Return the relative distance, 0 where nothing is expected and nothing comes."""
    got, expected = np.asarray(got, dtype="float64"), np.asarray(expected, dtype="float64")
    distance = np.linalg.norm(got - expected)
    return distance / np.linalg.norm(expected) if distance else 0.0


def in_single_precision(function, inputs):
    """Return the same graph in float32, its arguments, and the program in mixed precision.

    The graph is rewritten once: that takes longest.
    """
    fgraph = function.maker.fgraph
    values = [*inputs, *(v.get_value() for v in fgraph.inputs[len(inputs) :])]
    low = jax_funcify(GraphWithConverter(fgraph, in_mixed_precision(corrected_funcify)))
    single = jax_funcify(GraphWithConverter(fgraph, corrected_funcify))
    return jax.jit(single), values, jax.make_jaxpr(low)(*values)


def with_low_backward_pass(fgraph, losses):
    """Return the function of a graph with bfloat16 in what losses don't depend on."""
    forward = {v.owner for v in ancestors(losses)}
    mixed = in_mixed_precision(corrected_funcify)

    def convert(op, *, node, within, **kwargs):
        if node not in forward or within is not fgraph:
            return mixed(op, node=node, within=within, **kwargs)
        return in_single(corrected_funcify(op, node=node, within=within, **kwargs), node, None)

    # Else XLA leaves out what roundings it can, and hides those that are too many.
    options = {"xla_allow_excess_precision": False}
    return jax.jit(jax_funcify(GraphWithConverter(fgraph, convert)), compiler_options=options)


@pytest.mark.long
@pytest.mark.usefixtures("float32_everywhere")
def test_attention_and_pooling():
    network = layers.Sequential(C2PSA(128), SPPF(128))
    x = pt.tensor("x", dtype="float32", shape=(2, 64, 8, 6))
    with layers.training():
        h = network(pt.concatenate([x, -x], axis=1))
    loss = pt.sqr(full_precision(h)[:, :7]).mean(acc_dtype=SINGLE)
    params = network.parameters()
    mode = jax_mode(precision="bf16")
    function = pytensor.function([x], [loss, *pytensor.grad(loss, params)], mode=mode)
    values = [np.random.default_rng(0).normal(size=x.type.shape).astype("float32")]
    low = function(*values)
    single, arguments, program = in_single_precision(function, values)
    single = single(*arguments)
    assert set(products(program)) == {(LOW, LOW)}
    np.testing.assert_allclose(low[0], single[0], rtol=0.02)
    for p, got, expected in zip(params, low[1:], single[1:], strict=True):
        assert got.dtype == SINGLE
        if not p.name.endswith(ZERO):
            assert cosine(got, expected) > 0.98, p.name


def draw_boxes(rng):
    """Draw boxes as large as an untrained head's: with others, rounding decides assignments."""
    sides = rng.uniform(0.8, 3.0, (BATCH, MAX_BOXES, 2))
    centres = rng.uniform(0.3, 0.7, (BATCH, MAX_BOXES, 2))
    return np.concatenate([centres, sides], axis=-1).astype("float32")


@pytest.fixture(scope="module", params=[None, "cuda"])
def step(request):
    """Run one batch in either precision, gradients apart from the optimizer's step."""
    floats = pytensor.config.change_flags(floatX="float32")
    with floats, jax.enable_x64(False), compiling_for(request.param):
        model = YOLO11n(2)
        mode = jax_mode(precision="bf16")
        train = TrainStep(
            model, SIZE, BATCH, MAX_BOXES, weight_decay=5e-4, max_accumulate=2, mode=mode
        )
        rng = np.random.default_rng(0)
        batch = Batch(
            rng.integers(0, 256, (BATCH, 3, SIZE, SIZE), dtype=np.uint8),
            draw_boxes(rng),
            rng.integers(0, 2, (BATCH, MAX_BOXES)).astype("int32"),
            np.full(BATCH, MAX_BOXES, dtype="int32"),
            np.arange(BATCH),
        )
        compute_single, values, program = in_single_precision(train._add, train.arguments(batch))
        single = compute_single(*values)
        rates = Rates(0.01, 0.01, 0.9, Recipe().decay_of_averages(0))
        parts, _ = train.run(batch, rates, step_now=False)
        fgraph = train._add.maker.fgraph
        names = {i: fgraph.inputs[k].name for i, k in fgraph.update_mapping.items()}
        changed = {v.name: v for v in train.variables}
        low = {i: np.asarray(changed[name].get_value()) for i, name in names.items()}
        norm = train.apply(rates)
        applied = train._apply.maker.fgraph
        zeros = [np.zeros(v.type.shape, v.type.dtype) for v in applied.inputs]
        convert = in_mixed_precision(corrected_funcify)
        optimizer = jax.make_jaxpr(jax_funcify(GraphWithConverter(applied, convert)))(*zeros)
        yield SimpleNamespace(**locals())


def gradients_of(step, outputs):
    """Return a step's gradients that aren't zero but for rounding, by parameter."""
    suffix = ".accumulated_gradient"
    return {
        name.removesuffix(suffix): np.asarray(outputs[i])
        for i, name in step.names.items()
        if name.endswith(suffix) and not name.removesuffix(suffix).endswith(ZERO)
    }


@pytest.mark.long
def test_backward_pass(step):
    """Its roundings add up as those of a hundred layers, three in each, by 2**-9 / sqrt(3)."""
    bound = np.sqrt(100 * 3) * 2**-9 / np.sqrt(3)
    losses = step.fgraph.outputs[:3]
    outputs = with_low_backward_pass(step.fgraph, losses)(*step.values)
    for got, expected in zip(outputs[:3], step.single[:3], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    expected = gradients_of(step, step.single)
    found = [error(got, expected[name]) for name, got in gradients_of(step, outputs).items()]
    assert 0 < np.median(found) < bound
    assert max(found) < 4 * bound


@pytest.mark.long
def test_losses_statistics_and_dtypes(step):
    np.testing.assert_allclose(step.parts, step.single[:3], rtol=0.02)
    assert np.isfinite(step.norm)
    for i, name in step.names.items():
        if "running" in name:
            expected = np.asarray(step.single[i])
            np.testing.assert_allclose(step.low[i], expected, rtol=0.05, atol=0.01, err_msg=name)
    for variable in step.train.variables:
        value = np.asarray(variable.get_value())
        assert value.dtype == variable.type.dtype
        assert np.isfinite(value).all(), variable.name
    # 87 convolutions, each with two gradients but the first
    assert set(products(step.program)) == {(LOW, LOW)}
    assert sum(products(step.program).values()) >= 3 * 87 - 1 - 3 * 7
    optimizer = {v.aval.dtype.name for e in equations(step.optimizer.jaxpr) for v in e.outvars}
    assert SINGLE in optimizer
    assert LOW not in optimizer
