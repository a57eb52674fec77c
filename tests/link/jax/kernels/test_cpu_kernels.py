"""Our own code for convolutions and normalizations on a CPU: what it computes, and where."""

import functools
import json
import logging
import os
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.link.jax import jax_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.kernels import cpu_kernels
from pytensor.link.jax.kernels.cpu_kernels import load_kernels, with_cpu_kernels
from pytensor.link.jax.rewriting.channels_last import ChannelsLast
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput
from tests.link.jax.process import in_a_process
from tests.link.jax.programs import program_text

pytestmark = [
    pytest.mark.skipif(jax.default_backend() != "cpu", reason="the kernels are for CPUs"),
    pytest.mark.usefixtures("compiler"),
    pytest.mark.slow,  # g++ compiles the kernels
]

KERNELS = cpu_kernels.KERNELS
KERNEL_OF = {
    Conv: cpu_kernels.CONVOLUTION, ConvGradFilters: cpu_kernels.GRAD_FILTERS,
    ConvGradInput: cpu_kernels.GRAD_IMAGE,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def kernels(compiler):
    assert load_kernels() is not None


def make_op(cls, **properties):
    defaults = {
        "border_mode": ((1, 1), (1, 1)), "subsample": (1, 1), "filter_dilation": (1, 1),
        "filter_flip": False,
    }  # fmt: skip
    return cls(**(defaults | properties))


def compute(op, *arrays, channels_last=False):
    """Return a result as the wrapped conversion computes it, and the kernels called."""
    if channels_last:
        op = ChannelsLast(op, (0, 2), not isinstance(op, ConvGradFilters), ())
        image, filters, *cotangent = arrays
        image, *cotangent = (
            np.ascontiguousarray(np.moveaxis(v, 1, -1)) for v in (image, *cotangent)
        )
        arrays = image, filters, *cotangent
    convert = with_cpu_kernels(jax_funcify, load_kernels())
    program = jax.jit(convert(op)).lower(*arrays)
    out = np.asarray(program.compile()(*arrays))
    if channels_last and op.image_outputs:
        out = np.moveaxis(out, -1, 1)
    text = program.as_text()
    return out, [name for name in KERNELS if name in text]


def reference(op, *arrays):
    """Return the result in double precision, by NumPy."""
    storage = [[None]]
    op.perform(None, [np.asarray(v, dtype="float64") for v in arrays], storage)
    return storage[0][0]


def draw_arrays(op, image_shape, filter_shape, seed=0):
    rng = np.random.default_rng(seed)
    _, _, spatial = op._run_time_shapes(image_shape, filter_shape)
    shapes = image_shape, filter_shape, (image_shape[0], filter_shape[0], *spatial)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def assert_agrees(op, arrays, channels_last=False, kernels=()):
    out, called = compute(op, *arrays, channels_last=channels_last)
    expected = reference(op, *arrays)
    assert out.dtype == "float32"
    np.testing.assert_allclose(
        out, expected, rtol=1e-4, atol=1e-4 * max(1, abs(expected).max(initial=0))
    )
    assert called == list(kernels)
    return out, expected


# ------------------------------------------------------------------------------ the kernels

PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADS = st.tuples(st.integers(0, 3), st.integers(0, 3))
# below, at and above the numbers of channels that fill a tile or a vector
CHANNELS = st.sampled_from([1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 36, 64, 71])


PROBLEMS = {
    "cls": st.sampled_from([Conv, ConvGradFilters, ConvGradInput]),
    "batch": st.integers(0, 3),
    "channels": st.tuples(CHANNELS, CHANNELS),
    "depthwise": st.booleans(),
    "size": st.tuples(st.integers(4, 14), st.integers(4, 14)),
    "kernel": PAIRS,
    "stride": PAIRS,
    "dilation": st.tuples(st.integers(1, 2), st.integers(1, 2)),
    "pads": st.tuples(PADS, PADS),
    "flip": st.booleans(),
    "channels_last": st.booleans(),
}


def check_problem(
    cls, batch, channels, depthwise, size, kernel, stride, dilation, pads, flip, channels_last
):
    c, k = channels
    groups = 1
    if depthwise:
        k, groups = c, c
    op = make_op(
        cls, border_mode=pads, subsample=stride, filter_dilation=dilation, filter_flip=flip,
        num_groups=groups,
    )  # fmt: skip
    for n, p, f, d in zip(size, pads, kernel, dilation, strict=True):
        assume(n + sum(p) > (f - 1) * d)
    arrays = draw_arrays(op, (batch, c, *size), (k, c // groups, *kernel))
    arrays = arrays[:2] if cls is Conv else arrays
    few = min(c, k) < (16 if max(stride) > 1 else 32) and max(kernel) > 1
    squares = kernel == (3, 3) and max(*stride, *dilation) == 1
    expected = (few or squares) and groups == dilation[1] == 1
    if cls is ConvGradFilters:
        expected = True
    elif cls is ConvGradInput:
        expected = groups == max(dilation) == 1 and (expected or max(stride) > 1)
    kernels = [KERNEL_OF[cls]] if expected else []
    assert_agrees(op, arrays, channels_last, kernels)


@given(**PROBLEMS)
@settings(max_examples=25, deadline=None)
def test_results_are_those_of_numpy(**problem):
    check_problem(**problem)


@pytest.mark.long
@given(**PROBLEMS)
@settings(max_examples=400, deadline=None)
def test_results_of_many_problems_are_those_of_numpy(**problem):
    check_problem(**problem)


@pytest.mark.by_default("3-16-1")
@pytest.mark.parametrize(
    ("channels", "filters", "groups"), [(64, 64, 1), (3, 16, 1), (130, 130, 130), (8, 40, 1)]
)
def test_many_positions(channels, filters, groups):
    """More than are summed up at once, and rows that don't divide into equal blocks."""
    op = make_op(ConvGradFilters, num_groups=groups, subsample=(2, 1))
    arrays = draw_arrays(op, (3, channels, 45, 38), (filters, channels // groups, 3, 3))
    assert_agrees(op, arrays, True, KERNELS[:1])


@pytest.mark.by_default("image1-filters1-pads1-ConvGradInput")
@pytest.mark.parametrize("cls", [Conv, ConvGradFilters, ConvGradInput])
@pytest.mark.parametrize(
    ("image", "filters", "pads"),
    [
        ((2, 33, 11, 8), (40, 33, 3, 3), ((1, 1), (1, 1))),  # half a square at the end
        ((1, 64, 12, 15), (32, 64, 3, 3), ((0, 0), (3, 2))),
        ((3, 32, 9, 9), (71, 32, 3, 3), ((2, 0), (0, 1))),
        ((1, 32, 3, 130), (32, 32, 3, 3), ((0, 0), (1, 1))),  # one row
        ((7, 130, 5, 6), (36, 130, 3, 3), ((1, 1), (1, 1))),  # several blocks
    ],
)
def test_in_squares(cls, image, filters, pads):
    """3 x 3 filters of many channels: with four products for nine."""
    op = make_op(cls, border_mode=pads)
    arrays = draw_arrays(op, image, filters)[: 2 if cls is Conv else 3]
    out, expected = assert_agrees(op, arrays, True, [KERNEL_OF[cls]])
    assert abs(out - expected).max() < 4e-6 * abs(expected).max()  # few digits are lost


def test_long_sums_keep_their_digits():
    """A million products of nearly one: summed one after another they would lose three digits."""
    op = make_op(ConvGradFilters, border_mode=((0, 0), (0, 0)))
    image, filters, cotangent = draw_arrays(op, (4, 1, 512, 512), (1, 1, 1, 1))
    image, cotangent = np.full_like(image, 1.1), np.full_like(cotangent, 0.9)
    out, _ = compute(op, image, filters, cotangent)
    np.testing.assert_allclose(out, reference(op, image, filters, cotangent), rtol=2e-5)


def test_padding_is_not_multiplied():
    """An infinite gradient at the corner reaches the taps that see the image there, no others."""
    op = make_op(ConvGradFilters)
    image, filters, cotangent = draw_arrays(op, (1, 2, 6, 6), (3, 2, 3, 3))
    cotangent[:, :, 0, 0] = np.inf
    out, _ = compute(op, image, filters, cotangent)
    assert np.isfinite(out[:, :, 0]).all()
    assert np.isfinite(out[:, :, :, 0]).all()
    assert np.isinf(out[:, :, 1:, 1:]).all()


def test_cotangents_of_wrong_shapes_are_told():
    op = make_op(ConvGradFilters)
    image, filters, cotangent = draw_arrays(op, (1, 2, 6, 6), (3, 2, 3, 3))
    with pytest.raises(ValueError, match="conv2d"):
        compute(op, image, filters, cotangent[:, :, 1:])


def test_over_a_batch_of_problems():
    op = make_op(ConvGradFilters)
    problems = [draw_arrays(op, (2, 3, 5, 5), (4, 3, 3, 3), seed) for seed in range(3)]
    convert = with_cpu_kernels(jax_funcify, load_kernels())
    out = jax.vmap(convert(op))(*map(np.stack, zip(*problems, strict=True)))
    expected = [reference(op, *arrays) for arrays in problems]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


# ------------------------------------------------------------------------- where they are used


@pytest.mark.by_default("two per channel")
@pytest.mark.parametrize(
    ("cls", "properties", "image", "filters"),
    [
        (Conv, {}, (2, 32, 6, 6), (32, 32, 5, 3)),
        (ConvGradFilters, {"num_groups": 2}, (2, 4, 6, 6), (8, 2, 3, 3)),
        (ConvGradFilters, {"num_groups": 4}, (2, 4, 6, 6), (8, 1, 3, 3)),
        (
            ConvGradFilters,
            {"border_mode": ((1, 1),), "subsample": (1,), "filter_dilation": (1,)},
            (2, 4, 6), (8, 4, 3),
        ),
    ],
    ids=["many channels", "groups", "two per channel", "one axis"],
)  # fmt: skip
def test_xla_computes_the_rest(cls, properties, image, filters):
    op = make_op(cls, **properties)
    arrays = draw_arrays(op, image, filters)
    arrays = arrays[:2] if cls is Conv else arrays
    assert_agrees(op, arrays)
    assert compute(op, *(v.astype("float16") for v in arrays))[1] == []
    assert len(image) < 4 or compute(op, *arrays, channels_last=True)[1] == []


def make_step(**options):
    """Compile a training step that calls all kernels."""
    rng = np.random.default_rng(3)
    shapes = (16, 3, 3, 3), (16, 1, 3, 3), (8, 16, 3, 3)
    parameters = [
        pytensor.shared(rng.normal(0, 0.2, s).astype("float32"), name=f"w{k}", shape=s)
        for k, s in enumerate(shapes)
    ]
    x = pt.tensor("x", dtype="float32", shape=(2, 3, 12, 12))
    h, *_ = pt.batch_normalization_train(
        pt.conv2d(x, parameters[0], border_mode="half"), np.ones(16, "float32"),
        np.zeros(16, "float32"), axes="spatial",
    )  # fmt: skip
    h = pt.silu(h)
    h = pt.silu(pt.conv2d(h, parameters[1], border_mode="half", num_groups=16))
    h = pt.conv2d(h, parameters[2], border_mode="half", subsample=(2, 2))
    loss = pt.sqr(h).mean()
    updates = [
        (w, w - np.float32(0.1) * g)
        for w, g in zip(parameters, pytensor.grad(loss, parameters), strict=True)
    ]
    mode = options.pop("mode", None) or jax_mode(cpu_kernels=True, **options)
    return pytensor.function([x], loss, updates=updates, mode=mode, trust_input=True), parameters


def images():
    return np.random.default_rng(0).normal(size=(2, 3, 12, 12)).astype("float32")


def test_a_training_step_is_that_of_xla():
    steps = {
        "kernels": make_step(donate=True),
        "off": make_step(mode=jax_mode(donate=True)),
        "mode JAX": make_step(mode="JAX"),
    }
    losses = {name: [float(step(images())) for _ in range(4)] for name, (step, _) in steps.items()}
    for name in ("off", "mode JAX"):
        np.testing.assert_allclose(losses["kernels"], losses[name], rtol=1e-5)
        for ours, theirs in zip(steps["kernels"][1], steps[name][1], strict=True):
            np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-4, atol=1e-6)
        assert not any(kernel in program_text(steps[name][0]) for kernel in KERNELS)
    assert losses["kernels"][-1] < losses["kernels"][0]
    assert all(kernel in program_text(steps["kernels"][0]) for kernel in KERNELS)


# ------------------------------------------------------------------- threads, devices, programs

SCRIPT = """
import hashlib, json, os, sys
if sys.argv[1] == "one":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np, jax, pytensor
from pytensor.link.jax.kernels.cpu_kernels import load_kernels
sys.path.insert(0, "tests/link/jax/kernels")
import test_cpu_kernels as t
if jax.config.jax_compilation_cache_dir:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
step, parameters = t.make_step(donate=True, keep_programs=True)
found = step.maker.deferred
losses = [float(step(t.images())).hex() for _ in range(3)]
values = b"".join(v.get_value().tobytes() for v in parameters)
print(json.dumps([load_kernels() is not None, found, losses, hashlib.sha256(values).hexdigest()]))
"""


FLAGS = "floatX=float32,on_opt_error=raise"


def start(threads="all", PYTENSOR_FLAGS=FLAGS, **variables):
    """Return (whether there are kernels, whether the program was found, losses, values' hash)."""
    done = in_a_process(SCRIPT, threads, PYTENSOR_FLAGS=PYTENSOR_FLAGS, **variables)
    return tuple(json.loads(done.stdout)), done.stderr


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return {"JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.mktemp("programs"))}


@pytest.fixture(scope="module")
def first_start(cache):
    return start(**cache)[0]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system can't pin a process")
def test_results_are_equal_for_any_number_of_threads(first_start):
    assert first_start[0]
    assert start("one")[0] == first_start  # recompiled


def test_several_devices_do_without():
    script = "from pytensor.link.jax.kernels.cpu_kernels import load_kernels; print(load_kernels())"
    flags = "--xla_force_host_platform_device_count=2"
    done = in_a_process(script, XLA_FLAGS=flags, PYTENSOR_FLAGS=FLAGS)
    assert done.stdout == "None\n"


def test_a_program_with_kernels_is_found_again(cache, first_start):
    second = start(**cache)[0]
    assert (first_start[1], second[1]) == (False, True)
    assert second[2:] == first_start[2:]
    # Without a compiler another program is made: the first can't run there.
    without, told = start(**cache, PYTENSOR_FLAGS=f"{FLAGS},cxx=")
    assert (without[0], len(without[2])) == (False, 3)
    assert "computed by XLA" in told
    assert "recompiled" not in told


# ------------------------------------------------------------------------------ compilation


def test_without_a_compiler_xla_computes_and_that_is_told_once(caplog, monkeypatch):
    # As in a process where no test has been told yet.
    monkeypatch.setattr(cpu_kernels, "_load", functools.cache(cpu_kernels._load.__wrapped__))
    with pytensor.config.change_flags(cxx=""), caplog.at_level(logging.WARNING):
        step, _ = make_step(donate=True)
        make_step(donate=True)
        assert load_kernels() is None
    assert float(step(images())) > 0
    (record,) = caplog.records
    assert "install g++" in record.message


def test_why_it_cant_be_compiled_is_told(tmp_path, caplog):
    broken = tmp_path / "c++"
    broken.write_text("#!/bin/sh\necho no such header >&2\nexit 1\n")
    broken.chmod(0o755)
    for compiler, told in ((str(broken), "no such header"), (str(tmp_path / "none"), "none")):
        caplog.clear()
        assert cpu_kernels._load(compiler, "", str(tmp_path / "compiled")) is None
        assert told in caplog.text
    assert list((tmp_path / "compiled").iterdir()) == []


def test_two_processes_may_compile_at_once(tmp_path, monkeypatch):
    """And others of PyTensor's may delete empty folders in its own, at any time."""
    made = []
    run = subprocess.run

    def counted(command, **kwargs):
        made.append(command)
        for path in tmp_path.iterdir():
            if path.is_dir() and not list(path.iterdir()):
                path.rmdir()
        return run(["g++", "-shared", "-fPIC", "-x", "c", os.devnull, *command[-2:]], **kwargs)

    monkeypatch.setattr(cpu_kernels.subprocess, "run", counted)
    compile_ = cpu_kernels._compiled
    with ThreadPoolExecutor(2) as pool:
        paths = set(pool.map(lambda _: compile_(pytensor.config.cxx, "", tmp_path), range(2)))
    (path,) = paths
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    before = len(made)
    assert compile_(pytensor.config.cxx, "", tmp_path) == path
    assert len(made) == before
    # Other flags, other code.
    assert compile_(pytensor.config.cxx, "-O1", tmp_path) != path


def test_the_sources_compile_without_a_warning(tmp_path, monkeypatch):
    run = subprocess.run

    def strict(command, **kwargs):
        assert {"-Wall", "-Wextra"} <= {*command}
        return run([*command[:-2], "-O0", "-Werror", *command[-2:]], **kwargs)

    monkeypatch.setattr(cpu_kernels.subprocess, "run", strict)
    assert cpu_kernels._compiled(pytensor.config.cxx, "", tmp_path).exists()


def test_a_change_of_any_source_file_is_another_library(tmp_path, monkeypatch):
    sources = shutil.copytree(cpu_kernels.SOURCE.parent, tmp_path / "kernels")
    monkeypatch.setattr(cpu_kernels, "SOURCE", sources / cpu_kernels.SOURCE.name)

    def written(command, **_):
        Path(command[-1]).touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(cpu_kernels.subprocess, "run", written)
    folder, made = tmp_path / "compiled", set()
    for number, path in enumerate([None, *sources.glob("*.cc"), *sources.glob("*.h")], 1):
        if path is not None:
            path.write_text(path.read_text() + "// changed\n")
        made.add(cpu_kernels._compiled("c++", "", folder))
        assert len(made) == number
    assert number > 5


def test_threads_load_a_library_once(tmp_path, monkeypatch):
    """Else XLA would get each kernel from two libraries."""
    loaded, barrier = [], threading.Barrier(2, timeout=60)

    def load(*_):
        loaded.append(None)
        time.sleep(0.2)  # the other thread asks for it meanwhile
        return "a library"

    monkeypatch.setattr(cpu_kernels, "_load", functools.cache(load))

    def ask(_):
        barrier.wait()
        return load_kernels()

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(ask, range(2))) == {"a library"}
    assert len(loaded) == 1
