"""The kernels for CPUs that a wheel brings compiled: which one is taken, and when none is."""

import functools
import logging
import shutil
from pathlib import Path

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.link.jax import jax_mode
from pytensor.link.jax.kernels import cpu_kernels

LEVELS = {name: " ".join(sorted(needs)) for name, needs in cpu_kernels.LEVELS.items()}
SOURCE = cpu_kernels.SOURCE


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a folder for what lies beside the source in a wheel; libraries are loaded anew."""
    folder = shutil.copytree(SOURCE.parent, tmp_path / "kernels")
    monkeypatch.setattr(cpu_kernels, "SOURCE", folder / SOURCE.name)
    monkeypatch.setattr(cpu_kernels, "_load", functools.cache(cpu_kernels._load.__wrapped__))
    return folder


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (f"flags : fpu {LEVELS['x86_64_v4']} sse2", "cpu_kernels_x86_64_v4_0.so"),
        (f"flags : fpu {LEVELS['x86_64_v3']} avx512f", "cpu_kernels_x86_64_v3_1.so"),
        (f"flags : fpu {LEVELS['x86_64_v3'].replace('fma', '')}", None),
        (f"Features : fp {LEVELS['aarch64']}", "cpu_kernels_aarch64_2.so"),
        ("flags : fpu sse2", None),
    ],
)
def test_the_processor_chooses_the_library(package, monkeypatch, flags, expected):
    monkeypatch.setattr(cpu_kernels, "processor", lambda: ["machine", "model name : none", flags])
    assert cpu_kernels.shipped() is None
    for k, level in enumerate(LEVELS):
        (package / f"cpu_kernels_{level}_{k}.so").touch()
    found = cpu_kernels.shipped()
    assert (found and found.name) == expected


def gradient(**options):
    """Return the gradient of a convolution's filters, and its program's text."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=s).astype("float32") for s in ((2, 3, 9, 8), (5, 3, 3, 3))]
    inputs = [pt.tensor(dtype="float32", shape=value.shape) for value in values]
    loss = pt.sqr(pt.conv2d(*inputs, border_mode="half")).mean()
    out = pytensor.grad(loss, inputs[1])
    function = pytensor.function(inputs, out, mode=jax_mode(**options))
    return np.asarray(function(*values)), function.vm.jit_fn.lower(*values).as_text()


on_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="the kernels are for CPUs")


@pytest.mark.slow  # g++ compiles the kernels
@on_cpu
def test_a_library_of_the_wheel_needs_no_compiler(package, compiler, monkeypatch):
    monkeypatch.setattr(cpu_kernels, "LEVELS", {"any": set()})
    path = cpu_kernels._compiled(compiler, "", Path(pytensor.config.compiledir))
    shutil.copy(path, package / "cpu_kernels_any_0123.so")
    with pytensor.config.change_flags(cxx=""):
        found, text = gradient(cpu_kernels=True)
    assert cpu_kernels.target(cpu_kernels.GRAD_FILTERS, "float32", "0123") in text
    expected, text = gradient()
    assert cpu_kernels.GRAD_FILTERS not in text
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@on_cpu
@pytest.mark.parametrize("fault", ["no library", "another version of JAX"])
def test_one_that_doesnt_fit_gives_way_to_the_compiler(
    package, compiler, monkeypatch, caplog, fault
):
    monkeypatch.setattr(cpu_kernels, "LEVELS", {"any": set()})
    path = package / "cpu_kernels_any_45.so"
    path.write_bytes(b"of another system")
    register = jax.ffi.register_ffi_target

    def refuse(name, *arguments, **options):
        if name.endswith("_45"):
            raise jax.errors.JaxRuntimeError("the handler's API version is incompatible")
        register(name, *arguments, **options)

    if fault == "another version of JAX":
        shutil.copy(cpu_kernels._compiled(compiler, "", Path(pytensor.config.compiledir)), path)
        monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    with caplog.at_level(logging.INFO):
        digest = cpu_kernels.load_kernels()
    assert digest not in (None, "45")
    assert "came with the package don't fit" in caplog.text
    cpu_kernels._load.cache_clear()
    with pytensor.config.change_flags(cxx=""):
        assert cpu_kernels.load_kernels() is None
    assert "computed by XLA, and slower" in caplog.text
