"""An operator is its Op and one file per backend: `toy` has those, and nothing else names it."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.rewriting.channels_last import ChannelsLast
from tests.link.toy.op import Mirror, mirror
from tests.utils import REFERENCE_MODE

FILTERS = np.random.default_rng(0).normal(size=(3, 2, 1, 2)).astype("float32")
IMAGE = np.random.default_rng(1).normal(size=(2, 2, 3, 5)).astype("float32")


@pytest.fixture(scope="module")
def network():
    """Return an image, and what convolutions with the toy between, and the gradient, make."""
    x = pt.tensor("x", dtype="float32", shape=IMAGE.shape)
    filters = pytensor.shared(FILTERS)
    out = pt.conv2d(mirror(pt.conv2d(x, filters)), pytensor.shared(FILTERS[:2].repeat(2, 1)[:, :3]))
    gradient = pytensor.grad(out.sum(), filters)
    expected = pytensor.function([x], [out, gradient], mode=REFERENCE_MODE)(IMAGE)
    return x, [out, gradient], expected


def compare(function, expected, **tolerances):
    for got, wanted in zip(function(IMAGE), expected, strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, **tolerances)


def ops(function):
    return [node.op for node in function.maker.fgraph.apply_nodes]


def test_jax_knows_its_layout(network):
    pytest.importorskip("jax")
    from tests.link.toy import in_jax  # noqa: F401

    x, outputs, expected = network
    function = pytensor.function([x], outputs, mode="JAX")
    wrapped = [op.op for op in ops(function) if isinstance(op, ChannelsLast)]
    assert wrapped.count(Mirror()) == 2  # its gradient is the other
    assert Mirror() not in ops(function)
    compare(function, expected, rtol=1e-5, atol=1e-5)


def test_jax_knows_its_precision(network):
    jax = pytest.importorskip("jax")
    from pytensor.link.jax import jax_mode
    from tests.link.toy import in_jax  # noqa: F401

    x, outputs, expected = network
    function = pytensor.function([x], outputs, mode=jax_mode(precision="bf16", guard=False))
    compare(function, expected, rtol=0.05, atol=0.05)
    values = [IMAGE, *(container.value for container in function.input_storage[1:])]
    program = str(jax.make_jaxpr(function.vm.jit_fn)(*values))
    mirrored = [line for line in program.splitlines() if "= rev[dimensions=(3,)]" in line]
    assert mirrored
    assert all(":bf16[" in line for line in mirrored)


@pytest.mark.slow
def test_numba(network):
    pytest.importorskip("numba")
    from tests.link.toy import in_numba  # noqa: F401

    x, outputs, expected = network
    function = pytensor.function([x], outputs, mode="NUMBA")
    assert any(isinstance(op, Mirror) for op in ops(function))
    compare(function, expected, rtol=1e-5, atol=1e-5)


def test_onnx(network):
    pytest.importorskip("onnxruntime")
    from tests.link.toy import in_onnx  # noqa: F401

    x, outputs, expected = network
    compare(pytensor.function([x], outputs, mode="ONNX"), expected, rtol=1e-5, atol=1e-5)
