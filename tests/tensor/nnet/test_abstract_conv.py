import numpy as np
from scipy.signal import convolve2d

import pytensor.tensor as pt
from pytensor.tensor.conv import abstract_conv as in_conv
from pytensor.tensor.nnet import abstract_conv, conv
from tests.utils import REFERENCE_MODE


def test_the_functions_are_those_of_the_conv_package():
    for name in in_conv.__all__:
        assert getattr(abstract_conv, name) is getattr(in_conv, name)
        assert getattr(pt.nnet, name) is getattr(in_conv, name)
    assert {"conv2d", "conv2d_transpose", "conv3d"} <= set(pt.nnet.__all__)


def test_old_conv2d():
    rng = np.random.default_rng(0)
    image, kernel = rng.normal(size=(1, 1, 5, 6)), rng.normal(size=(1, 1, 2, 3))
    out = conv.conv2d(image, kernel, image.shape, kernel.shape, "full", (1, 2))
    expected = convolve2d(image[0, 0], kernel[0, 0])[:, ::2]
    np.testing.assert_allclose(out.eval(mode=REFERENCE_MODE)[0, 0], expected)
