"""Mode PYTORCH where values are special, shapes are bad, and what is compiled.

`tests.test_operators` has the operators.  Only what is said to be is compiled, which takes seconds
each: elsewhere PyTorch runs the same functions as they are.
"""

import subprocess
import sys

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.catalogue.operators import OPERATORS
from tests.utils import compare_mode_and_py

torch = pytest.importorskip("torch", reason="torch isn't installed")


@pytest.fixture
def eager():
    with torch.compiler.set_stance("force_eager"):
        yield


@pytest.mark.usefixtures("eager")
def test_indices():
    x = pt.tensor4("x")
    value = np.random.default_rng(0).integers(0, 4, (2, 2, 7, 6)).astype("float64")
    value[0, 0], value[1, 1, 2, 3] = -np.inf, np.nan
    outputs = [
        *pt.nn.max_pool2d(
            x, (3, 2), (2, 3), ((2, 1), (0, 1)), dilation=(1, 2), return_indices=True
        ),
        *pt.nn.adaptive_max_pool2d(x, (3, 4), return_indices=True),
        *pt.topk(x, 3, 2),
    ]
    compare_mode_and_py("PYTORCH", [x], outputs, [value])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning")
def test_indices_alone_are_compiled():
    """The maximum without its positions isn't in the graph: its Op had no hash there."""
    x = pt.tensor("x", dtype="float32", shape=(1, 1, 4, 4))
    values, indices = pt.nn.max_pool2d(x, 2, return_indices=True)
    outputs = [indices, pytensor.grad(values.sum(), x)]
    value = np.random.default_rng(0).normal(size=(1, 1, 4, 4)).astype("float32")
    compare_mode_and_py("PYTORCH", [x], outputs, [value])


@pytest.mark.usefixtures("eager")
def test_group_normalization_of_no_pixels():
    x = pt.tensor("x", dtype="float32", shape=(2, 4, 0, 6))
    gamma = pt.vector("gamma", dtype="float32", shape=(4,))
    out = pt.nn.group_norm(x, 2, gamma)
    outputs = [out, *pytensor.grad(out.sum(dtype="float32"), [x, gamma])]
    values = [np.ones((2, 4, 0, 6), "float32"), np.ones(4, "float32")]
    compare_mode_and_py("PYTORCH", [x, gamma], outputs, values)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", ["pool_2d, max", "adaptive_max_pool2d", "topk, 1"])
def test_ties(name):
    inputs, outputs, [value] = OPERATORS[name].graph(order=2)
    compare_mode_and_py("PYTORCH", inputs, outputs, [np.round(value)])


@pytest.mark.usefixtures("eager")
def test_not_finite():
    x = pt.vector("x")
    value = np.array([1, np.nan, np.inf, np.nan, -np.inf, 0.0])
    outputs = [*pt.topk(x, 4), pt.nn.relu(x), pt.silu(x[:3]), pt.nn.max_pool1d(x, 2, 1)]
    compare_mode_and_py("PYTORCH", [x], outputs, [value])


@pytest.mark.usefixtures("eager")
def test_bad_shapes_at_run_time():
    x, w, v = pt.tensor4("x"), pt.tensor4("w"), pt.vector("v")
    f = pytensor.function([x, w], pt.conv2d(x, w), mode="PYTORCH")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match="larger than the padded image"):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))
    f = pytensor.function([x], pt.pool_2d(x, (3, 2), True), mode="PYTORCH")
    with pytest.raises(ValueError, match="larger than the padded image"):
        f(np.ones((1, 1, 2, 5)))
    f = pytensor.function([v], pt.topk(v, 4), mode="PYTORCH")
    with pytest.raises(ValueError, match="k=4"):
        f([1.0, 2.0, 3.0])


# PyTorch 2.15 says so on Python 3.13.0 alone.
@pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning")
def test_compiled():
    x, w, gamma = inputs = [pt.tensor4("x"), pt.tensor4("w"), pt.vector("gamma")]
    out = pt.silu(pt.conv2d(x, w, ((1, 0), (0, 2)), (2, 1)) * gamma[:, None, None])
    outputs = [out, *pytensor.grad((out**2).sum(), inputs)]
    rng = np.random.default_rng(0)
    # the second time, PyTorch compiles for lengths that it doesn't know
    for shape in [(2, 4, 9, 8), (3, 4, 11, 7)]:
        values = [rng.normal(size=s) for s in (shape, (3, 4, 2, 3), (3,))]
        compare_mode_and_py("PYTORCH", inputs, outputs, values)


@pytest.mark.parametrize("package", ["torch", "mlx"])
def test_pytensor_does_not_load(package):
    code = f"import sys, pytensor.tensor; assert {package!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
