"""Mixed precision where a graph ends, in nested graphs, and where nothing is to change."""


import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import ifelse
from pytensor.link.jax import jax_mode
from pytensor.optimizers import Muon
from pytensor.tensor.precision import full_precision
from tests.link.jax.mode.test_precision import (
    LOW,
    SINGLE,
    both,
    correlate,
    cross_entropy,
    dtypes_inside,
    image_variable,
    images,
    probes_see_everything,  # noqa: F401
    products,
    program_of,
    shared,
)
from tests.link.jax.process import in_a_process

pytestmark = pytest.mark.usefixtures("float32_everywhere")


# ------------------------------------------------------------------------------ borders


def test_gradients_of_dense_layers_are_float32():
    """They reach the update through elementwise functions."""
    x = pt.tensor("x", dtype="float32", shape=(8, 6))
    y = pt.tensor("y", dtype="float32", shape=(8, 3))
    first, second = shared("first", 6, 5), shared("second", 5, 3)
    loss = cross_entropy(pt.silu(x @ first) @ second, y)
    params = [first, second]
    updates = [
        (p, p - np.float32(0.1) * g)
        for p, g in zip(params, pytensor.grad(loss, params), strict=True)
    ]
    program = program_of([x, y], [loss], updates)
    # two layers, the gradient of the hidden one, and those of the weights
    assert products(program) == {(LOW, LOW): 5}
    assert products(program, of="outvars") == {(LOW,): 3, (SINGLE,): 2}


@pytest.mark.slow
def test_optimizers_are_float32():
    """Muon multiplies matrices, momenta and gradients of which are float32."""
    x = image_variable()
    weight = shared("weight", 6, 3, 3, 3)
    loss = pt.sqr(full_precision(pt.silu(correlate(x, weight)))).mean(acc_dtype=SINGLE)
    gradients = pytensor.grad(loss, [weight])
    updates = Muon(learning_rate=np.float32(0.1)).get_updates([weight], gradients)
    updates = list(dict(updates).items())
    program = program_of([x], [loss], updates)
    assert products(program)[(SINGLE, SINGLE)] >= 10
    assert set(products(program)) == {(LOW, LOW), (SINGLE, SINGLE)}
    function = pytensor.function([x], loss, updates=updates, mode=jax_mode(precision="bf16"))
    function(images())
    for variable, _ in updates:
        assert np.asarray(variable.get_value()).dtype == variable.type.dtype


def assert_close(results, rtol):
    for expected, got in zip(*results, strict=True):
        assert got.dtype == expected.dtype == SINGLE
        assert np.linalg.norm(got - expected) < rtol * np.linalg.norm(expected)
        assert not np.array_equal(got, expected)


def of_a_scan(x, weight, c):
    """Return states, of which what is carried from step to step is float32."""
    return pytensor.scan(
        lambda h, weight: h + pt.tanh(correlate(h, weight)), outputs_info=[correlate(x, weight)],
        non_sequences=[weight], n_steps=3, return_updates=False,
    )  # fmt: skip


def of_branches(x, weight, c):
    h = correlate(x, weight)
    return ifelse(pt.eq(c, 1), pt.silu(h), x - h)


def of_a_graph(x, weight, c):
    inner, filters = image_variable("inner"), pt.tensor("f", dtype="float32", shape=(3, 3, 3, 3))
    block = OpFromGraph([inner, filters], [pt.silu(correlate(inner, filters))], inline=False)
    return block(correlate(x, weight), weight)


@pytest.mark.by_default("1-of_a_scan", "1-of_branches", "1-of_a_graph")
@pytest.mark.slow
@pytest.mark.parametrize("build", [of_a_scan, of_branches, of_a_graph])
@pytest.mark.parametrize("condition", [0, 1])
def test_nested_graphs(build, condition):
    """They take and give float32, and are computed in bfloat16."""
    x, weight, c = image_variable(), shared("weight", 3, 3, 3, 3), pt.scalar("c", dtype="int8")
    out = build(x, weight, c)
    gradient = pytensor.grad(pt.sqr(out).sum(acc_dtype=SINGLE), weight)
    assert_close(both([x, c], [out, gradient], [images(), np.int8(condition)]), rtol=0.05)
    if build is of_a_graph:
        assert dtypes_inside([x], [out]) == [SINGLE]


# ------------------------------------------------------------------------------ what stays


@pytest.fixture
def float64_too(float32_everywhere):
    with pytensor.config.change_flags(floatX="float64"), jax.enable_x64(True):
        yield


def assert_untouched(inputs, outputs, values):
    """Assert bit by bit the results of the mode without mixed precision."""
    results = [
        pytensor.function(inputs, outputs, mode=mode)(*values)
        for mode in (jax_mode(), jax_mode(precision="bf16"))
    ]
    for variable, expected, got in zip(outputs, *results, strict=True):
        assert np.asarray(got).dtype == variable.type.dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.slow
@pytest.mark.usefixtures("float64_too")
def test_doubles_are_untouched():
    x = image_variable(dtype="float64")
    params = [pytensor.shared(images((6, 3, 3, 3)).astype("float64"), shape=(6, 3, 3, 3))]
    params += [pytensor.shared(np.ones(6), shape=(6,)), pytensor.shared(np.zeros(6), shape=(6,))]
    h, *_ = pt.batch_normalization_train(correlate(x, params[0]), *params[1:], axes="spatial")
    h = pt.nn.max_pool2d(pt.silu(h), 2)
    outputs = [h, h.flatten(2) @ np.ones((120, 2)), *pytensor.grad(pt.sqr(h[:, 1]).sum(), params)]
    assert_untouched([x], outputs, [images().astype("float64")])


@pytest.mark.usefixtures("float64_too")
def test_integers_are_untouched():
    x = pt.tensor("x", dtype="int64", shape=(4, 6))
    weight = pytensor.shared(np.arange(12).reshape(6, 2) + 2**40)
    outputs = [x @ weight, (x @ weight).sum(axis=0), x[:, ::2] % 3]
    assert_untouched([x], outputs, [np.arange(24).reshape(4, 6) ** 3])


@pytest.mark.usefixtures("float64_too")
def test_doubles_beside_singles():
    """A double makes float32 of bfloat16, and is never rounded."""
    x = image_variable()
    h = correlate(x, shared("weight", 6, 3, 3, 3))
    scale = pytensor.shared(np.full((4, 6, 10, 8), 1 / 3), shape=(4, 6, 10, 8))
    doubles = [h * scale, h.astype("float64"), h.flatten(2) @ np.ones((480, 2))]
    found = dtypes_inside([x], [*doubles, (h * scale).astype("float32")])
    assert found == ["float64"] * 3 + [SINGLE]


def test_invalid_name():
    with pytest.raises(ValueError, match="precision is 'bfloat16'; it must be one of"):
        jax_mode(precision="bfloat16")


@pytest.mark.slow
def test_the_mark_can_be_imported_after_the_mode():
    """Excluding a rewrite that isn't registered yet would take its name in PyTensor's database."""
    code = """
import pytensor.link.jax.mode
pytensor.link.jax.jax_mode(precision="bf16").optimizer
import pytensor.tensor.precision
"""
    in_a_process(code)


def test_mode_jax_is_untouched():
    x = image_variable()
    h = full_precision(correlate(x, shared("weight", 6, 3, 3, 3)))
    for mode in ("JAX", jax_mode()):
        nodes = pytensor.function([x], h, mode=mode).maker.fgraph.apply_nodes
        assert not [node for node in nodes if type(node.op).__name__ == "FullPrecision"]
    expected = pytensor.function([x], h, mode="JAX")(images())
    np.testing.assert_array_equal(pytensor.function([x], h, mode=jax_mode())(images()), expected)
