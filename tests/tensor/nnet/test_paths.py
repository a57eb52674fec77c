import subprocess
import sys

import pytest

import pytensor.tensor as pt
from pytensor.tensor import nnet


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_nnet_is_loaded_when_asked_for():
    code = (
        "import sys, pytensor.tensor as T; name = 'pytensor.tensor.nnet'; "
        "assert name not in sys.modules; T.nnet.relu; assert name in sys.modules; T.signal.pool"
    )
    python(code)


def test_modules_and_their_functions():
    assert pt.nnet is nnet
    from pytensor.tensor.nnet import basic, bn
    from pytensor.tensor.nnet.nnet import softmax
    from pytensor.tensor.nnet.sigm import hard_sigmoid

    assert softmax is basic.softmax is nnet.softmax
    assert hard_sigmoid is nnet.hard_sigmoid is pt.hard_sigmoid
    assert nnet.batch_normalization is bn.batch_normalization is not pt.batch_normalization
    assert nnet.sigmoid is pt.sigmoid
    for name in nnet.__all__:
        getattr(nnet, name)


def test_what_is_left_out_says_so():
    with pytest.raises(AttributeError, match=r"'ultra_fast_sigmoid': it approximates; use sigmoid"):
        _ = nnet.ultra_fast_sigmoid
    with pytest.raises(AttributeError, match=r"'pytensor.tensor.nnet' has no attribute 'nothing'$"):
        _ = nnet.nothing
    with pytest.raises(AttributeError, match=r"'pytensor.tensor' has no attribute 'nothing'$"):
        _ = pt.nothing
