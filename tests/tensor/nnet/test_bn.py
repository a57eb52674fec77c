import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.tensor.nnet import batchnorm, bn
from tests.utils import REFERENCE_MODE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 3, 2, 5))


def parameters(shape):
    return [RNG.uniform(0.5, 2, size=shape) for _ in range(4)]


def test_with_standard_deviation():
    gamma, beta, mean, std = parameters((1, 3, 1, 1))
    for mode in ("low_mem", "high_mem"):
        out = bn.batch_normalization(X, gamma, beta, mean, std, mode)
        np.testing.assert_allclose(
            out.eval(mode=REFERENCE_MODE), (X - mean) / std * gamma + beta
        )
    # Parameters broadcast as they are, unlike those of the other functions
    vectors = [p.reshape(-1) for p in parameters(5)]
    out = bn.batch_normalization(X, *vectors).eval(mode=REFERENCE_MODE)
    gamma, beta, mean, std = vectors
    np.testing.assert_allclose(out, (X - mean) / std * gamma + beta)
    with pytest.raises(ValueError, match="mode must be 'low_mem' or 'high_mem', got 'fast'"):
        bn.batch_normalization(X, *vectors, mode="fast")


@pytest.mark.parametrize(
    ("axes", "shape"),
    [
        ("spatial", (1, 3, 1, 1)),
        ("per-activation", (1, 3, 2, 5)),
        ((0, 3), (1, 3, 2, 1)),
    ],
)
@pytest.mark.parametrize("dropped", [False, True])
def test_with_given_statistics(axes, shape, dropped):
    gamma, beta, mean, var = parameters(shape)
    expected = (X - mean) / np.sqrt(var + 0.01) * gamma + beta
    given = [gamma, beta, mean, var]
    if dropped:
        given = [p.reshape([n for n in shape if n != 1]) for p in given]
    out = bn.batch_normalization_test(X, *given, axes=axes, epsilon=0.01)
    np.testing.assert_allclose(out.eval(mode=REFERENCE_MODE), expected)


def test_default_axes_are_theanos():
    expected = bn.batch_normalization_test(X, *(p := parameters((3, 2, 5))), "per-activation")
    actual = bn.batch_normalization_test(X, *p)
    np.testing.assert_array_equal(
        actual.eval(mode=REFERENCE_MODE), expected.eval(mode=REFERENCE_MODE)
    )


def test_names():
    assert bn.batch_normalization_train is pt.batch_normalization_train
    assert batchnorm.batch_normalization_test is bn.batch_normalization_test
