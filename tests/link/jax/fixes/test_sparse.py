"""Sparse matrices in `jax_mode`, against SciPy's through the Python linker."""

import numpy as np
import pytest
import scipy.sparse

import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

rng = np.random.default_rng(0)


def matrix(name, format, shape=(4, 5)):
    """Return a sparse variable and a value for it."""
    value = scipy.sparse.random(*shape, density=0.5, format=format, random_state=1)
    return ps.matrix(format, name=name, shape=shape), value


def compare(inputs, outputs, values):
    """Compare with Python: formats and dtypes, places of entries, and their values."""
    expected = pytensor.function(inputs, outputs, mode=REFERENCE_MODE)(*values)
    results = pytensor.function(inputs, outputs, mode=jax_mode())(*values)
    for ours, theirs in zip(results, expected, strict=True):
        assert scipy.sparse.issparse(ours) == scipy.sparse.issparse(theirs)
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        if scipy.sparse.issparse(ours):
            assert ours.format == theirs.format
            assert ours.indices.dtype == theirs.indices.dtype
            np.testing.assert_array_equal((ours != 0).toarray(), (theirs != 0).toarray())
            ours, theirs = ours.toarray(), theirs.toarray()
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.by_default("csc")
@pytest.mark.slow
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_products(format):
    """With dense matrices and vectors on either side, sparse ones, and constants."""
    x, value = matrix("x", format)
    left, right, vector = pt.matrix("left"), pt.matrix("right"), pt.vector("vector")
    constant = ps.as_sparse(value)
    y = ps.dot(x, right)
    outputs = [
        y,
        ps.dot(left, x),
        ps.dot(x, vector),
        ps.dot(x, ps.transpose(x)),
        ps.dot(constant, right),
        ps.structured_dot(x, right),
        *pt.grad(ps.structured_dot(x, right).sum(), [x, right]),
        pt.grad((y**2).sum(), right),
    ]
    values = [value, rng.normal(size=(3, 4)), rng.normal(size=(5, 2)), rng.normal(size=5)]
    compare([x, left, right, vector], outputs, values)


@pytest.mark.by_default("csr")
@pytest.mark.slow
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_entries(format):
    """What has the places of a matrix for its own."""
    x, value = matrix("x", format)
    dense, vector, column = pt.matrix("dense"), pt.vector("vector"), pt.vector("column")
    outputs = [
        x,
        ps.transpose(x),
        ps.cast(x, "float32"),
        x * dense,
        x * vector,
        x * 3.0,
        ps.math.sin(x),
        ps.math.structured_add_s_v(x, vector),
        x + dense,
        ps.col_scale(x, vector),
        ps.row_scale(x, column),
        ps.math.sampling_dot(dense[:, :3], pt.stack([vector] * 3, axis=1), x),
        *(ps.sp_sum(x, axis=axis) for axis in (None, 0, 1)),
        pt.grad(ps.sp_sum(ps.math.sin(x), sparse_grad=True), x),
        ps.dense_from_sparse(x),
        x[2, -1],
        ps.get_item_2lists(x, [0, -1, 2], [1, 2, 4]),
    ]
    values = [value, rng.normal(size=(4, 5)), rng.normal(size=5), rng.normal(size=4)]
    compare([x, dense, vector, column], outputs, values)


@pytest.mark.by_default("csc")
@pytest.mark.slow
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_diagonals_and_stacks(format):
    x, value = matrix("x", "csr", (4, 4))
    y, other = matrix("y", "csc", (4, 4))
    stacks = [stack([x, y], format=format, dtype="float64") for stack in (ps.hstack, ps.vstack)]
    compare([x, y], [ps.diag(x), *stacks], [value, other])


def test_other_numbers_of_entries_make_other_programs():
    """And updates of a shared matrix are SciPy's."""
    x, value = matrix("x", "csr", (4, 4))
    state = pytensor.shared(value, name="state")
    f = pytensor.function([x], ps.sp_sum(x), updates={state: x * 2.0}, mode=jax_mode())
    for k in (0, 1):
        given = scipy.sparse.csr_matrix(np.eye(4, k=k))
        assert f(given) == 4 - k
        np.testing.assert_array_equal(state.get_value().toarray(), 2 * given.toarray())


def test_what_has_another_number_of_entries_is_refused():
    x, _ = matrix("x", "csr", (4, 4))
    with pytest.raises(NotImplementedError, match="two sparse matrices: how many entries"):
        pytensor.function([x], ps.structured_dot(x, x), mode=jax_mode())


def test_an_entry_beyond_the_matrix_is_nan():
    """It was 0, as an entry that a matrix may have."""
    x, value = matrix("x", "csr", (4, 4))
    i = pt.lscalar("i")
    outputs = [ps.get_item_scalar(x, (i, i)), ps.get_item_2lists(x, [i, 3], [3, 0])[0]]
    f = pytensor.function([x, i], outputs, mode=jax_mode())
    for inside in (3, -4):
        np.testing.assert_allclose(f(value, inside), [value[inside, inside], value[inside, 3]])
    for outside in (4, -5):
        assert np.isnan(f(value, outside)).all()
