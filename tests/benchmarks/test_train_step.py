"""The sides that the step benchmarks time do the same work.

The step in plain JAX is compared with the golden vectors, with the demo's own step and with the one
in PyTorch.
"""

import platform
from functools import cache

import numpy as np
import pytest
from model import YOLO11n

from benchmarks.common import step_sides as sides
from tests.examples import yolo11n_golden as golden

jax = pytest.importorskip("jax")
pure = pytest.importorskip("benchmarks.common.pure_jax_yolo11n")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiler")]

LEVELS = ("p3", "p4", "p5")
# A following batch normalization takes out what these add: their gradients are rounding.
WITHOUT_GRADIENT = [f"model.10.m.0.{part}.bn.bias" for part in ("attn.pe", "attn.proj", "ffn.1")]
SIZE = 64, 4  # of images, and how many

golden_loss = jax.jit(pure.yolo_loss)


def test_golden_maps_and_statistics(float32_everywhere):
    weights = {n: golden.weight(n, v.shape) for n, v in YOLO11n(2).state_dict().items()}
    state = pure.init_state(weights)
    images = np.moveaxis(golden.images(), 1, -1)
    maps, statistics = jax.jit(pure.forward)(state.params, state.statistics, images)
    expected = golden.load_arrays(golden.CORE / "train_nc2.npz")
    for level, m in zip(LEVELS, maps, strict=True):
        m = np.moveaxis(np.asarray(m), -1, 1)
        np.testing.assert_allclose(m[:, :64], expected[f"box_{level}"], atol=1e-3, rtol=0)
        np.testing.assert_allclose(m[:, 64:], expected[f"cls_{level}"], atol=1e-3, rtol=0)
    after = golden.load_arrays(golden.CORE / "bn_after_train_nc2.npz")
    assert set(statistics) == set(after)
    for name, value in statistics.items():
        np.testing.assert_allclose(value, after[name], atol=1e-5, rtol=0, err_msg=name)


@pytest.mark.by_default("empty-1e-05", "tiny-0.0001", "dense-1e-05")
@pytest.mark.parametrize(
    ("case", "rtol"), [("main", 1e-5), ("empty", 1e-5), ("tiny", 1e-4), ("dense", 1e-5)]
)
def test_golden_loss(case, rtol, float32_everywhere):
    arrays = golden.load_arrays(golden.CORE / "train_nc2.npz")
    maps = [np.concatenate([arrays[f"box_{p}"], arrays[f"cls_{p}"]], axis=1) for p in LEVELS]
    maps = [np.moveaxis(m, 1, -1) for m in maps]
    total, parts = golden_loss(maps, pure.Targets(*golden.targets(case, max_boxes=32)))
    expected = golden.load_json("loss_nc2.json")[case]
    for name, value in parts.items():
        np.testing.assert_allclose(value, expected[name[:3]], rtol=rtol, err_msg=name)
    np.testing.assert_allclose(total, expected["total"], rtol=rtol)


@cache
def pure_steps():
    """Return weights of the start, and losses, norms and arrays of three steps in plain JAX."""
    start = sides.initial_weights()
    plain = sides.PureStep(*SIZE, start)
    results = [plain.run(plain.place(sample(number)), number) for number in range(3)]
    return start, results, plain.arrays()


def sample(number):
    image_size, batch_size = SIZE
    return sides.draw_sample(number, batch_size, image_size)


def check_side(side):
    """Compare three steps with those in plain JAX."""
    start, results, arrays = pure_steps()
    for number, (theirs, their_norm) in enumerate(results):
        ours, our_norm = side.run(side.place(sample(number)), number)
        for name, loss in theirs.items():
            assert loss > 0.1, name
            np.testing.assert_allclose(ours[name], loss, rtol=1e-5, err_msg=name)
        np.testing.assert_allclose(our_norm, their_norm, rtol=2e-4)
    before = start, dict.fromkeys(start, np.float32(0)), start
    for first, ours, theirs in zip(before, side.arrays(), arrays, strict=True):
        ours.pop("model.23.dfl.conv.weight", None)
        assert set(theirs) == set(ours)
        for name, value in ours.items():
            check_changes(value, theirs[name], first[name], name)


@pytest.mark.long
def test_three_steps_of_the_demo(float32_everywhere):
    check_side(sides.DemoStep(*SIZE, pure_steps()[0]))


TORCH = [
    {},
    {"channels_last": True},
    # A C++ compiler, and minutes.
    pytest.param({"compiled": "default", "channels_last": True}, marks=pytest.mark.long),
]


@pytest.mark.parametrize("options", TORCH, ids=str)
def test_three_steps_in_torch(options, float32_everywhere):
    pytest.importorskip("torch", reason="PyTorch isn't installed: it is a side of benchmarks alone")
    check_side(sides.TorchStep(*SIZE, pure_steps()[0], **options))


def test_plain_jax_in_bf16_convolves_in_bf16_alone(float32_everywhere):
    side = sides.PureStep(*SIZE, sides.initial_weights(), precision="bf16")
    step, arguments = side.program()
    lines = step.lower(*arguments).as_text().splitlines()
    convolutions = [line for line in lines if "stablehlo.convolution" in line]
    assert len(convolutions) > 2 * 88
    for line in convolutions:
        assert "xbf16>" in line
        assert "xf32>" not in line, line
    state, _, _ = jax.eval_shape(step, *arguments)
    assert {v.dtype for v in jax.tree.leaves(state)} == {np.dtype("float32")}


def check_changes(ours, theirs, first, name):
    """Compare what steps changed, up to the rounding of the sum."""
    change = np.abs(ours - first).max()
    tolerance = 1e-3 * change + 2.4e-7 * np.abs(first).max()
    if name in WITHOUT_GRADIENT:
        tolerance = 1e-6
        assert change < tolerance, name
    else:
        assert change > 0, name
    np.testing.assert_allclose(theirs, ours, atol=tolerance, rtol=0, err_msg=name)


SMALL = "--image-size", "64", "--batch-size", "2", "--rounds", "2"


@pytest.mark.long
def test_benchmark_of_the_step(run_benchmark):
    result, _ = run_benchmark("step.train_step", *SMALL, "--steps", "2")
    (point,) = result["points"]
    assert point["largest_difference"]["pytensor"] < 1e-4
    assert [side["page_faults"][1] >= 0 for side in point["sides"].values()] == [True, True]
    assert point["sides"]["pure"]["allocator"] == "default"
    if platform.libc_ver()[0] == "glibc":
        assert point["sides"]["pytensor"]["allocator"] == "kept"
    demo, plain = (side["cost"] for side in point["sides"].values())
    np.testing.assert_allclose(demo["flops"], plain["flops"], rtol=0.5)
    for cost in (demo, plain):
        # The new state has the place of the old one: 3 floats and more a parameter.
        assert cost["bytes written over arguments"] > 3 * 4 * 2_590_214
    low, middle, high = point["ratios"]["pytensor / pure"]
    assert 0 < low <= middle <= high


@pytest.mark.long
def test_benchmark_of_the_compilation(run_benchmark):
    result, _ = run_benchmark("step.compile_time", *SMALL, "--second-start")
    demo, plain = result["seconds"].values()
    for stage in ("imports", "building", "tracing", "lowering", "XLA", "first step"):
        assert demo[stage][1] > 0, stage
        assert plain[stage][1] > 0, stage
    for stage in ("gradient", "rewrites"):
        assert demo[stage][1] > 0 == plain[stage][1], stage
    assert result["ratio"]["total without XLA"][1] > 0
    again = result["second start"]
    for name, first in result["seconds"].items():
        assert again["seconds"][name]["XLA"][1] < 0.3 * first["XLA"][1]
        assert again["ratio to the first"][name][1] < 0.9
