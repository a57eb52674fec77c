"""The names under which Theano and PyTensor before 2.37 had convolution and pooling."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
import pytensor.tensor.nnet.abstract_conv
from pytensor.tensor.conv import abstract_conv
from tests.tensor.conv.test_conv import naive_conv, symbolic_pair
from tests.utils import REFERENCE_MODE


def test_older_paths():
    assert pt.nnet.abstract_conv.conv2d is abstract_conv.conv2d
    assert pt.signal.pool.pool_2d is pt.pool.pool_2d is pt.pool_2d


def test_conv2d():
    image, filters = np.ones((1, 2, 5, 4)), np.arange(12.0).reshape(1, 2, 2, 3)
    x, w = symbolic_pair(4)
    out = abstract_conv.conv2d(x, w, (None, 2, 5, 4), (1, 2, 2, 3), "half", (2, 1), False)
    assert out.type.shape == (None, 1, 3, 4)
    expected = naive_conv(image, filters, ((1, 1), (1, 1)), (2, 1), (1, 1), 1, False)
    f = pytensor.function([x, w], out, mode=REFERENCE_MODE)
    np.testing.assert_allclose(f(image, filters), expected)
    with pytest.raises(AssertionError, match="SpecifyShape"):
        f(image[:, :, 1:], filters)


@pytest.mark.parametrize("shape", [(1, 2), (-1, 2, 3, 4), (None, 2.0, 3, 4), "1234", 5])
def test_bad_shapes_known_beforehand(shape):
    x, w = symbolic_pair(4)
    with pytest.raises(ValueError, match="input_shape must be a tuple with a length of at least 0"):
        abstract_conv.conv2d(x, w, shape)
    with pytest.raises(ValueError, match="filter_shape must be a tuple"):
        abstract_conv.conv2d(x, w, None, shape)
