"""`broadcast_as`: lengths that only run time knows, and its gradient."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.tensor.broadcasting import SumAs, broadcast_as
from tests.utils import REFERENCE_MODE


@pytest.mark.parametrize("lengths", [((1, 2), (3, 2)), ((3, 2), (1, 2)), ((1, 1), (2, 3))])
def test_value_and_gradients(lengths):
    x, y = pt.matrix("x"), pt.matrix("y")
    out = broadcast_as(x, y, [-2, -1])
    weights = pt.matrix("w")
    gradient = grad((out * weights).sum(), x)
    again = grad((gradient**2).sum() / 2, weights)
    values = [np.random.default_rng(0).normal(size=s) for s in lengths]
    shape = np.broadcast_shapes(*lengths)
    w = np.random.default_rng(1).normal(size=shape)
    results = function([x, y, weights], [out, gradient, again], mode=REFERENCE_MODE)(*values, w)
    axes = tuple(a for a in (0, 1) if lengths[0][a] == 1 != shape[a])
    summed = w.sum(axes, keepdims=True)
    np.testing.assert_array_equal(results[0], np.broadcast_to(values[0], shape))
    np.testing.assert_allclose(results[1], summed)
    np.testing.assert_allclose(results[2], np.broadcast_to(summed, shape))


def test_lengths_that_do_not_fit_stay():
    x, y = pt.vector("x"), pt.vector("y")
    result = broadcast_as(x, y, [-1]).eval({x: np.ones(5), y: np.ones(3)}, mode=REFERENCE_MODE)
    assert result.shape == (5,)


def test_axes_are_counted_from_the_end():
    x, y = pt.tensor3("x"), pt.vector("y")
    out = SumAs(axes=(-1,))(x, y)
    result = out.eval({x: np.ones((2, 2, 3)), y: np.ones(1)}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, 3 * np.ones((2, 2, 1)))
