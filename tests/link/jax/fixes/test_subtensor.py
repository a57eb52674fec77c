"""Indexing that `jax_mode` has right where PyTensor's conversions to JAX haven't."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)
INDICES = {
    "vector": ((0, [1, 2, 2, 3]), 4),
    "rows": (([0, 0, 1],), (3, 4)),
    "pairs, one counted from the end": (([0, -3, 1], [1, 1, 2]), 3),
    "columns": ((slice(None), [1, 1, 0]), (3, 3)),
}


@pytest.mark.by_default("rows", "pairs, one counted from the end", "columns")
@pytest.mark.parametrize("case", INDICES)
def test_duplicates_are_ignored(case):
    indices, shape = INDICES[case]
    x, y = (
        pt.matrix("x", dtype="float64"),
        pt.tensor("y", dtype="float64", shape=np.broadcast_shapes(shape)),
    )
    result = pt.inc_subtensor(x[indices], y, ignore_duplicates=True)
    compare([x, y], result, [np.zeros((3, 4)), rng.normal(size=shape)])


def test_descending_unsigned_indices():
    x = pt.vector("x", dtype="float64")
    compare([x], x[pt.constant(np.array([3, 2, 1], "uint8"))], [np.arange(4.0)])


@pytest.mark.by_default("set_subtensor")
@pytest.mark.parametrize("write", [pt.inc_subtensor, pt.set_subtensor])
def test_what_is_written_to_all_of_an_array_is_no_scatter(write):
    """Reversed, such a scatter ends the process while XLA compiles."""
    x, n = pt.vector("x", dtype="float64"), pt.lscalar("n")
    outputs = [
        write(pt.ones(4)[:n], x)[::-1],
        write(pt.zeros((2, 4))[:, :n], 2.5)[:, ::-1],
        write(pt.zeros((4, 3), dtype="float32")[0:n:1], x[:, None])[::-1],
        pt.grad((x[::-1][:n] ** 2).sum(), x),
    ]
    f = pytensor.function([x, n], outputs, mode=jax_mode())
    values = np.arange(4.0) + 1, np.int64(4)
    assert "scatter" not in f.vm.jit_fn.lower(*values).as_text()
    compare([x, n], outputs, values, py_mode="FAST_COMPILE")
    compare([x, n], [write(pt.ones(4)[:n], x[:n])[::-1]], [values[0], np.int64(3)])


@pytest.mark.parametrize("dtypes", [("int32", "float16"), ("uint64", "int8"), ("int64", "float32")])
def test_writing_leaves_other_elements_as_they_are(dtypes):
    """JAX computed them all in a dtype of both."""
    x, y = (pt.vector(dtype=dtype) for dtype in dtypes)
    outputs = [pt.set_subtensor(x[1:], y), pt.set_subtensor(x[np.array([1, 2])], y)]
    values = [np.array([2**24 + 1, 5, 7], dtypes[0]), np.array([3, 4], dtypes[1])]
    if dtypes[0].endswith("64"):
        values[0][0] = 2**62 + 1
    compare([x, y], outputs, values)


def test_integers_are_increased_by_fractions():
    """Their sum is cut to an integer, as Python has it: -7 + 0.5 is -6."""
    x, y = pt.vector("x", dtype="int64"), pt.vector("y", dtype="float32")
    f = pytensor.function(
        [x, y],
        [pt.inc_subtensor(x[:2], y), pt.inc_subtensor(x[np.array([0, 1])], y)],
        mode=jax_mode(),
    )
    for result in f(np.array([-7, 2**30 + 1, 3]), np.array([0.5, 1.5], "float32")):
        np.testing.assert_array_equal(result, [-6, 2**30 + 2, 3])


def test_writing_into_a_few_integers():
    """They are known while JAX traces, and NumPy's."""
    x = pt.vector("x", dtype="int64", shape=(3,))
    zeros = pt.zeros(5, dtype="int64")
    outputs = [
        pt.diag(x, k=1),
        pt.set_subtensor(zeros[1:4], x),
        pt.set_subtensor(zeros[x], 7),
        pt.inc_subtensor(zeros[np.array([0, 0, 1])], x),
        pt.inc_subtensor(zeros[np.array([0, 0, 1])], x, ignore_duplicates=True),
        pt.set_subtensor(pt.zeros(5, dtype="bool")[x], np.array(True)),
    ]
    compare([x], outputs, [np.array([2, 0, 4])])


def test_a_computed_index_of_a_shape():
    x, k = pt.matrix("x"), pt.vector("k", dtype="int64")
    lengths = pt.stack([x.shape[0], x.shape[1]])
    compare([x, k], [x.shape[k[0] % 2], lengths[k % 2]], [np.zeros((2, 3)), np.array([5, 4])])
