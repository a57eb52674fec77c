"""Functions in the form of a device that isn't there: a CPU runs what a GPU would get."""

import re

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.target import compiling_for, target_platform

jax = pytest.importorskip("jax")
jax_mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode


def network():
    """Return images and two layers' filters; the cost's gradients by the filters."""
    x = pt.tensor("x", dtype="float32", shape=(2, 3, 16, 16))
    filters = [
        pt.tensor("v", dtype="float32", shape=(8, 3, 3, 3)),
        pt.tensor("w", dtype="float32", shape=(8, 1, 3, 3)),  # one for each channel
    ]
    h = pt.silu(pt.conv2d(x, filters[0], border_mode="half"))
    h = pt.conv2d(h, filters[1], border_mode="half", num_groups=8)
    return [x, *filters], pytensor.grad((h**2).mean(), filters)


def program(**options):
    """Return the program that XLA gets, and its results."""
    inputs, gradients = network()
    mode = jax_mode(named_scopes=False, **options)
    function = pytensor.function(inputs, gradients, mode=mode)
    rng = np.random.default_rng(0)
    values = [rng.normal(size=v.type.shape).astype("float32") for v in inputs]
    text = function.vm.jit_fn.lower(*values).as_text()
    return text, function(*values)


def layouts(text):
    """Return how images lie in convolutions: "b" the batch, "f" the channels."""
    return set(re.findall(r"dim_numbers = \[([bf01, ]*)\]x", text))


@pytest.mark.slow
def test_a_gpu_gets_channels_second_and_a_cpu_channels_last():
    gpu, on_gpu = program(platform="cuda")
    cpu, on_cpu = program(platform="cpu")
    plain, _ = program()
    assert "b, f, 0, 1" in layouts(gpu)
    assert layouts(gpu) <= {"b, f, 0, 1", "f, b, 0, 1"}
    assert "b, 0, 1, f" in layouts(cpu)
    # Of images; small filters may be.
    assert not re.search(r"transpose .*: \(tensor<2x\d+x\d+x\d+xf32", gpu)
    assert re.search(r"transpose .*: \(tensor<2x\d+x\d+x\d+xf32", cpu)
    assert plain == (cpu if jax.default_backend() == "cpu" else gpu)
    for a, b in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_kernels_for_processors_are_not_a_gpus():
    assert "pytensor_conv_grad" in program(platform="cpu", cpu_kernels=True)[0]
    assert "custom_call" not in program(platform="gpu", cpu_kernels=True)[0]


def test_programs_of_other_platforms_have_other_names():
    assert len({repr(jax_mode(platform=name).linker) for name in (None, "cpu", "cuda")}) == 3


def test_the_choice_ends_with_its_block():
    before = target_platform()
    with compiling_for("rocm"):
        assert target_platform() == "gpu"
        with compiling_for(None):
            assert target_platform() == "gpu"
        with compiling_for("cpu"):
            assert target_platform() == "cpu"
    assert target_platform() == before == jax.default_backend()


def test_an_unknown_platform():
    with pytest.raises(ValueError, match=r"platform is 'vulkan'; it must be one of .*'cuda'"):
        jax_mode(platform="vulkan")
