"""What `jax_mode` converts otherwise than mode JAX, in inner graphs too."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import ifelse
from pytensor.graph.replace import vectorize_graph
from tests.utils import compare_jax_and_py, in_turn

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode


@pytest.mark.by_default("float64-max", "int8-sum", "int64-prod", "bool-max")
@in_turn(
    "dtype, reduction",
    ["float16", "float32", "float64", "int8", "int64", "bool"],
    [pt.sum, pt.prod, pt.max],
)
def test_dtype_of_a_reduction_is_the_graphs(dtype, reduction):
    x = pt.tensor("x", dtype=dtype, shape=(2, 3))
    value = np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    compare_jax_and_py([x], [reduction(x), reduction(x, axis=1)], [value], jax_mode=jax_mode())


@pytest.mark.usefixtures("float32_everywhere")
def test_no_warning_with_64_bit_types_off():
    """Warnings are errors here."""
    x = pt.tensor("x", dtype="float32", shape=(None, 3))
    bias = pt.tensor("bias", dtype="float32", shape=(3,))
    total = pt.sum(pt.tanh(x + bias))
    f = pytensor.function([x, bias], [total, pytensor.grad(total, bias)], mode=jax_mode())
    results = f(np.ones((4, 3), np.float32), np.zeros(3, np.float32))
    assert [r.dtype for r in results] == [np.float32] * 2


def total(x):
    return pt.exp(x.sum() / 9)


def of_a_scan(x):
    return pytensor.scan(total, sequences=[x], return_updates=False)


def of_a_graph(x):
    row = pt.vector(dtype="float32")
    return OpFromGraph([row], [total(row)])(x[0])


def of_branches(x):
    return ifelse(x[0, 0] > 0, total(x), total(-x))


def of_a_batch(x):
    row = pt.vector(dtype="float32", shape=(3,))
    op = OpFromGraph([row], [total(row), row + 1])
    return pt.vectorize(lambda v: op(v)[0], signature="(i)->()")(x)


@pytest.mark.by_default("of_a_scan")
@pytest.mark.parametrize("build", [of_a_scan, of_a_graph, of_branches, of_a_batch])
def test_inner_graphs_have_the_dtypes_of_the_graph(build):
    """A step that gave its state another dtype would be an error of JAX's."""
    x = pt.matrix("x", dtype="float32")
    value = np.arange(6, dtype="float32").reshape(2, 3)
    compare_jax_and_py([x], build(x), [value], jax_mode=jax_mode())


def test_states_of_a_scan_stay_float32():
    x = pt.vector("x", dtype="float32")
    states = pytensor.scan(
        lambda state: state / state.sum(), outputs_info=x, n_steps=3, return_updates=False
    )
    gradient = pytensor.grad(states[-1][0], x)
    value = np.arange(1, 4, dtype="float32")
    compare_jax_and_py([x], [states, gradient], [value], jax_mode=jax_mode())


def test_a_float64_constant_stays_so_beside_float32():
    """JAX rounds a number of Python's to an array's dtype."""
    x, y = pt.vector("x", dtype="float64"), pt.vector("y", dtype="float32")
    f = pytensor.function([x, y], x * pt.switch(y > 0, np.float64(0.1), y), mode=jax_mode())
    np.testing.assert_array_equal(f(np.array([3.0]), np.ones(1, "float32")), [3.0 * 0.1])


@pytest.mark.slow
def test_float64_is_compared_once():
    x = pt.vector("x", dtype="float64")
    for dtype, barriers in (("float64", 1), ("float32", 0)):
        f = pytensor.function([x], x.astype(dtype) > 0.5, mode=jax_mode())
        assert f.vm.jit_fn.lower(np.ones(3)).as_text().count("optimization_barrier") == barriers
        np.testing.assert_array_equal(f(np.array([0.25, 0.75])), [False, True])


def split_gradient(row, parts):
    return pytensor.grad((pt.concatenate([row[:n] for n in parts]) ** 2).sum(), row)


def running_sum(row):
    return pytensor.scan(lambda v, total: total + v, row, row[:1].sum(), return_updates=False)


@pytest.mark.by_default("<lambda>-shape0")
@in_turn(
    "build, shape",
    [lambda v: split_gradient(v, (2, 5, 1)), lambda v: split_gradient(v, (3, 3)), running_sum],
    [(4, 5), (None, 5), (None, None)],
)
def test_lengths_are_known_in_batches(build, shape):
    """Different ones, equal ones, and a number of steps: vectorize_graph gives them an axis."""
    row = pt.vector("row", dtype="float64", shape=shape[1:])
    batch = pt.matrix("batch", dtype="float64", shape=shape)
    result = vectorize_graph(build(row), {row: batch})
    value = np.random.default_rng(2).normal(size=(4, 5))
    compare_jax_and_py([batch], result, [value], jax_mode=jax_mode())
