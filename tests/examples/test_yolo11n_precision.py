"""YOLO11n in mixed precision: blocks against float32, and the whole training step."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from blocks import C2PSA, SPPF, Parameters
from loader import Batch
from model import YOLO11n
from training import Recipe, TrainStep

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.precision import in_mixed_precision
from pytensor.link.jax.tuned import jax_mode
from pytensor.tensor.precision import full_precision
from tests.link.jax.test_precision import LOW, SINGLE, equations, products

SIZE, BATCH, MAX_BOXES = 64, 4, 4
# Mathematically zero: a batch normalization behind them removes any constant per channel.
ZERO = ("attn.pe.bn.bias", "attn.proj.bn.bias", "ffn.1.bn.bias")


def cosine(a, b):
    a, b = np.asarray(a, dtype="float64").ravel(), np.asarray(b, dtype="float64").ravel()
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def in_single_precision(function, inputs):
    """Results of the same graph in float32, and the program in mixed precision.

    The graph is rewritten once: that takes longest.
    """
    fgraph = function.maker.fgraph
    values = [*inputs, *(v.get_value() for v in fgraph.inputs[len(inputs) :])]
    low = jax_funcify(fgraph, convert_node=in_mixed_precision(jax_funcify))
    single = jax_funcify(fgraph, convert_node=jax_funcify)
    return jax.jit(single)(*values), jax.make_jaxpr(low)(*values)


@pytest.mark.usefixtures("float32_everywhere")
def test_attention_and_pooling():
    store = Parameters()
    x = pt.tensor("x", dtype="float32", shape=(2, 64, 8, 6))
    h = C2PSA(store, "psa", 128)(pt.concatenate([x, -x], axis=1), [])
    h = SPPF(store, "sppf", 128)(h, [])
    loss = pt.sqr(full_precision(h)[:, :7]).mean(acc_dtype=SINGLE)
    params = list(store.trainable.values())
    mode = jax_mode(precision="bf16")
    function = pytensor.function([x], [loss, *pytensor.grad(loss, params)], mode=mode)
    values = [np.random.default_rng(0).normal(size=x.type.shape).astype("float32")]
    low = function(*values)
    single, program = in_single_precision(function, values)
    assert set(products(program)) == {(LOW, LOW)}
    np.testing.assert_allclose(low[0], single[0], rtol=0.02)
    for p, got, expected in zip(params, low[1:], single[1:], strict=True):
        assert got.dtype == SINGLE
        if not p.name.endswith(ZERO):
            assert cosine(got, expected) > 0.98, p.name


def draw_boxes(rng):
    """Boxes as large as an untrained head's: with others, rounding decides what is assigned."""
    sides = rng.uniform(0.8, 3.0, (BATCH, MAX_BOXES, 2))
    centres = rng.uniform(0.3, 0.7, (BATCH, MAX_BOXES, 2))
    return np.concatenate([centres, sides], axis=-1).astype("float32")


@pytest.fixture(scope="module")
def step():
    """One batch in either precision, gradients apart from the optimizer's step."""
    with pytensor.config.change_flags(floatX="float32"), jax.enable_x64(False):
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
        single, program = in_single_precision(train._add, train.arguments(batch))
        recipe, rates = Recipe(), (0.01, 0.01, 0.9)
        parts, _ = train.run(batch, rates, step_now=False, steps_done=0, recipe=recipe)
        fgraph = train._add.maker.fgraph
        names = {i: fgraph.inputs[k].name for i, k in fgraph.update_mapping.items()}
        changed = {v.name: v for v in train.variables}
        low = {i: np.asarray(changed[name].get_value()) for i, name in names.items()}
        norm = train.apply(rates, steps_done=0, recipe=recipe)
        applied = train._apply.maker.fgraph
        values = [np.zeros(v.type.shape, v.type.dtype) for v in applied.inputs]
        convert = in_mixed_precision(jax_funcify)
        optimizer = jax.make_jaxpr(jax_funcify(applied, convert_node=convert))(*values)
        yield SimpleNamespace(**locals())


@pytest.mark.slow
def test_losses(step):
    for k in range(3):
        np.testing.assert_allclose(step.parts[k], step.single[k], rtol=0.02)
    assert np.isfinite(step.norm)


@pytest.mark.slow
def test_gradients(step):
    suffix = ".accumulated_gradient"
    angles, nothing = {}, []
    for i, name in step.names.items():
        name = name.removesuffix(suffix)
        if name == step.names[i] or name.endswith(ZERO):
            continue
        if np.any(step.single[i]):
            angles[name] = cosine(step.low[i], step.single[i])
        else:  # a level of the head without an object
            nothing.append(name)
            assert not step.low[i].any(), name
    assert len(angles) + len(nothing) == len(step.model.params) - len(ZERO)
    assert len(nothing) < 30
    assert all(np.isfinite(step.low[i]).all() for i in step.names)
    # Of a few values a channel in the deepest layers, batch normalization magnifies the rounding.
    assert np.quantile(list(angles.values()), 0.05) > 0.8
    assert min(angles.values()) > 0.4, min(angles, key=angles.get)
    assert np.median(list(angles.values())) > 0.97


@pytest.mark.slow
def test_statistics(step):
    for i, name in step.names.items():
        if "running" in name:
            expected = np.asarray(step.single[i])
            np.testing.assert_allclose(step.low[i], expected, rtol=0.05, atol=0.01, err_msg=name)


@pytest.mark.slow
def test_all_variables_stay_float32(step):
    for variable in step.train.variables:
        value = np.asarray(variable.get_value())
        assert value.dtype == variable.type.dtype
        assert np.isfinite(value).all(), variable.name


@pytest.mark.slow
def test_every_convolution_is_in_bfloat16(step):
    assert set(products(step.program)) == {(LOW, LOW)}
    # 87 convolutions, each with two gradients but the first
    assert sum(products(step.program).values()) >= 3 * 87 - 1 - 3 * 7


@pytest.mark.slow
def test_optimizer_is_in_float32(step):
    dtypes = {v.aval.dtype.name for e in equations(step.optimizer.jaxpr) for v in e.outvars}
    assert SINGLE in dtypes
    assert LOW not in dtypes
