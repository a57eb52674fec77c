"""Drawing of planned images in the YOLO11n demo: what the host draws, and the device the same."""

import colorsys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from data.augment import (
    LAYERS,
    PASTED,
    POSITION_BITS,
    Augment,
    Plan,
    make_plan,
    plan_fields,
    stack_plans,
)
from data.drawing import _units, plan_variables, render, render_graph
from data.images import FILL

import pytensor
import pytensor.tensor as pt
from pytensor.graph.traversal import ancestors
from pytensor.link.jax import jax_mode
from tests.examples import yolo11n_golden as golden
from tests.examples.yolo11n.data.pictures import batch_of, noise

# --------------------------------------------------------------------- pixels, independently


def expected(plan, squares):
    """Draw float64 pixels (B, S, S, 3) before rounding and colours, in the plainest way."""
    size = squares.shape[1]
    images = np.full((len(plan.source), size, size, 3), float(FILL))
    for n, k in np.ndindex(plan.source.shape):
        (x0, y0, x1, y1), (left, top, right, bottom) = plan.window[n, k], plan.content[n, k]
        ax, bx, ay, by = plan.affine[n, k].astype(float)
        square = squares[plan.source[n, k]].astype(float)
        for y in range(y0, y1):
            for x in range(x0, x1):
                u, v = ax * (x + 0.5) + bx - 0.5, ay * (y + 0.5) + by - 0.5
                i, j = int(np.floor(u)), int(np.floor(v))
                images[n, y, x] = sum(
                    square[np.clip(row, top, bottom - 1), np.clip(column, left, right - 1)]
                    * (1 - abs(u - column))
                    * (1 - abs(v - row))
                    for row in (j, j + 1)
                    for column in (i, i + 1)
                )
    return images


def assert_rounded(got, want, tolerance):
    """Assert that `got` is `want` rounded half up, but within `tolerance` of a half."""
    difference = np.abs(got.astype(int) - np.floor(want + 0.5))
    assert difference.max() <= 1
    assert np.abs(want % 1 - 0.5)[difference > 0].max(initial=0) < tolerance
    return (difference > 0).mean()


SHAPES = [(20, 20), (20, 7), (9, 20), (1, 1), (20, 1), (1, 20), (13, 16)]
BOXES = [[[0.5, 0.4 + 0.05 * (k % 3), 0.3, 0.3 + 0.1 * (k % 4)]] for k in range(len(SHAPES))]


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (20, {"scale": 0.5}),
        (17, {"scale": (1.5, 2.0), "mosaic": 1.0}),
        (33, {"scale": 0.5, "mosaic": 0.5, "copy_paste": 0.8}),
    ],
)
def test_pixels_match_a_plain_renderer(size, options):
    dataset = noise(SHAPES, size, BOXES)
    plan = batch_of(dataset, 14, hue=0, saturation=0, value=0, translate=0.3, **options)
    assert (plan.affine[:, 0, 0] < 0).any()
    # Weights are multiples of 2**-11: off by at most 2**-12 each, times 255 levels.
    want = expected(plan, dataset.squares).transpose(0, 3, 1, 2)
    unequal = assert_rounded(render(plan, dataset.squares), want, 2 * 255 * 2**-12 + 0.01)
    assert unequal < 0.0055
    covered = (plan.window[..., 2:] > plan.window[..., :2]).all(axis=-1)
    assert covered[:, :LAYERS].any(axis=1).all()
    if "mosaic" in options:
        assert not covered[:, :LAYERS].all()  # layers outside the output were among them
    assert covered[:, LAYERS:].sum() > 9 or "copy_paste" not in options


def single_plan(windows, colors=(0, 1, 1), size=16, affine=(1, 0, 1, 0)):
    """Plan of one image with layers of whole stored squares, in the order of the sources."""
    plan = Plan(*(np.zeros((1, *shape), dtype) for shape, dtype in plan_fields(LAYERS)))
    plan.color[0] = colors
    for k, window in enumerate(windows):
        plan.source[0, k] = k
        plan.window[0, k], plan.affine[0, k] = window, affine
        plan.content[0, k] = (0, 0, size, size)
    return plan


def test_halves_round_up_and_neighbors_are_clamped():
    squares = noise([(16, 16)], size=16).squares
    # Halfway between columns every second sum is odd; the last column has no neighbour.
    image = render(single_plan([(0, 0, 16, 16)], affine=(1, 0.5, 1, 0)), squares)[0]
    beyond = np.concatenate([squares[0, :, 1:], squares[0, :, -1:]], axis=1)
    want = (squares[0].astype(int) + beyond + 1) // 2
    np.testing.assert_array_equal(image.transpose(1, 2, 0), want)
    # A window that reaches far beyond its picture repeats the border.
    plan = single_plan([(0, 0, 16, 16)], affine=(-2.5, 20.0, 3.0, -19.0))
    plan.content[0, 0] = (3, 2, 12, 15)
    assert_rounded(render(plan, squares)[0].transpose(1, 2, 0), expected(plan, squares)[0], 0.14)


def hsv_expected(colors, shift, richer, brighter):
    rows = []
    for color in colors:
        hue, saturation, value = colorsys.rgb_to_hsv(*(color / 255))
        saturation, value = min(saturation * richer, 1), min(value * brighter, 1)
        rows.append(colorsys.hsv_to_rgb((hue + shift) % 1, saturation, value))
    return 255 * np.array(rows)


@pytest.mark.parametrize(
    "gains", [(0.013, 0.4, 1.3), (-0.3, 1.7, 0.6), (0.5, 1.0, 1.0), (0.95, 0.0, 1.9), (0, 2, 1)]
)
def test_colors_match_colorsys(gains):
    gains = tuple(np.array(gains, np.float32).tolist())
    levels = np.array([0, 1, 2, 50, 51, 100, 127, 128, 200, 254, 255])
    colors = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    colors = np.concatenate([colors, np.zeros((37 * 37 - len(colors), 3), int)])
    squares = colors.astype(np.uint8).reshape(1, 37, 37, 3)
    plan = single_plan([(0, 0, 37, 37)], colors=gains, size=37)
    got = render(plan, squares)[0].reshape(3, -1).T
    assert_rounded(got, hsv_expected(colors, *gains), 1e-3)


# ---------------------------------------------------------------------------------- drawing


def test_render_into_parts_of_a_batch_from_a_file_and_in_threads(tmp_path):
    dataset = noise(SHAPES)
    plan = batch_of(dataset, 8, mosaic=0.5)
    want = render(plan, dataset.squares)
    dataset.squares.tofile(tmp_path / "squares")
    mapped = np.memmap(tmp_path / "squares", np.uint8, mode="r", shape=dataset.squares.shape)
    out = np.empty_like(want)

    def part(rows):
        given = render(Plan(*(field[rows] for field in plan)), mapped, out[rows])
        assert np.shares_memory(given, out)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(part, [slice(0, 3), slice(3, 4), slice(4, 8)]))
    np.testing.assert_array_equal(out, want)
    # The caller's array is left writeable.
    assert dataset.squares.flags.writeable


def changed(plan, name, value):
    field = getattr(plan, name).copy()
    field[0, 0] = value
    return plan._replace(**{name: field})


def test_render_errors():
    squares = np.zeros((2, 16, 16, 3), np.uint8)
    plan = single_plan([(0, 0, 16, 16)])
    wrong = [
        (changed(plan, "source", 2), "names image 2, but there are 2"),
        (changed(plan, "source", -1), "names image -1, but there are 2"),
        (changed(plan, "window", (0, 0, 17, 16)), "beyond the 16 px"),
        (changed(plan, "window", (-1, 0, 16, 16)), "beyond the 16 px"),
        (changed(plan, "content", (0, 0, 17, 16)), "content does not fit"),
        (changed(plan, "content", (5, 0, 5, 16)), "content does not fit"),
        (plan._replace(affine=plan.affine.astype(float)), r"affine is float64 \(1, 4, 4\)"),
        (plan._replace(color=plan.color[0]), r"color is float32 \(3,\)"),
    ]
    for bad, message in wrong:
        with pytest.raises(ValueError, match=message):
            render(bad, squares)
    turned = squares.transpose(0, 2, 1, 3)
    for bad in (squares[0], squares[:, :15].copy(), squares.astype(np.float32), turned):
        with pytest.raises(ValueError, match="C-contiguous uint8 \\(N, S, S, 3\\)"):
            render(plan, bad)
    for bad in (np.empty((1, 3, 16, 15), np.uint8), np.empty((1, 3, 16, 16), np.float32)):
        with pytest.raises(ValueError, match="out is"):
            render(plan, squares, bad)


# ------------------------------------------------------------------------------- the device

SIZE, BATCH = 33, 10
DEVICE_SHAPES = [(33, 33), (33, 12), (14, 33), (1, 1), (33, 1), (1, 33), (21, 26), (300, 200)]
pictures = noise(DEVICE_SHAPES, SIZE, [*BOXES, BOXES[0]])


def device_batch(first=0, **options):
    """Plan a batch for `compiled`, in which things are pasted."""
    augment = Augment(**{"copy_paste": 0.8, "translate": 0.3} | options)
    return stack_plans(
        [
            make_plan(pictures, k % len(pictures), augment, np.random.default_rng(k))[0]
            for k in range(first, first + BATCH)
        ]
    )


def compiled(mode, pasted=PASTED):
    squares = pytensor.shared(pictures.squares, shape=pictures.squares.shape)
    plan = plan_variables(BATCH, pasted)
    draw = pytensor.function(list(plan), render_graph(squares, plan, SIZE), mode=mode)
    return lambda plan: np.asarray(draw(*plan))


@pytest.fixture(scope="module", params=golden.FORMS)
def draw(request):
    return compiled(jax_mode(**request.param))


def assert_same(got, plan):
    want = render(plan, pictures.squares)
    assert got.dtype == np.float32
    assert got.shape == want.shape
    levels = np.rint(got * 255)
    np.testing.assert_allclose(got, levels / 255, rtol=3e-7)
    difference = np.abs(levels - want)
    assert difference.max() <= 1
    assert (difference == 0).mean() >= 0.999


@pytest.mark.by_default("cpu-1.0")
@pytest.mark.slow
@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_device_draws_what_the_host_draws(draw, mosaic):
    flips = outside = pasted = 0
    for first in range(0, 60, BATCH):
        plan = device_batch(first, mosaic=mosaic)
        assert_same(draw(plan), plan)
        flips += (plan.affine[:, 0, 0] < 0).sum()
        outside += (plan.window[:, :LAYERS, 2] == 0).sum() - (0 if mosaic else 3 * BATCH)
        pasted += (plan.window[:, LAYERS:, 2] > 0).sum()
    assert 15 < flips < 45
    assert outside > (5 if mosaic else 0)
    assert pasted > 40


@pytest.mark.slow
def test_device_with_extreme_scale_and_colors(draw):
    for scale in (0.99, (1.9, 2.0)):
        plan = device_batch(scale=scale, hue=1, saturation=1, value=1, mosaic=0.5)
        assert_same(draw(plan), plan)


def test_device_with_overlapping_layers_and_none(draw):
    plan = device_batch(mosaic=1.0)
    plan.window[:2] = 0
    plan.window[0, :4] = [(0, 0, 20, 20), (5, 5, 30, 33), (0, 0, 0, 33), (10, 10, 15, 33)]
    plan.color[1] = (0.3, 1.5, 1.25)
    got = draw(plan)
    assert_same(got, plan)
    assert (np.rint(got[1] * 255) == 143).all()  # 114 * 1.25 = 142.5


def test_device_rounds_positions_as_the_host():
    """Between -0.5 and 0, too, where a float32 above 0.5 has fewer digits than its position."""
    near = -(np.arange(16) + 0.5 + 2.0**-12) / 2**POSITION_BITS
    number = np.concatenate([near, -near, near - 3, np.linspace(-2000, 2000, 999)]).astype("f4")
    x = pt.vector(dtype="float32")
    got = pytensor.function([x], _units(x), mode=jax_mode())(number)
    want = [round(float(value) * 2**POSITION_BITS) for value in number]
    np.testing.assert_array_equal(got, want)


def test_device_positions_beyond_an_int32_elsewhere(draw):
    # In units of 2**-16 px, the map starts far below -2**31; only its last pixels are used.
    plan = device_batch()
    plan.window[0, 0] = (29, 0, 33, 33)
    plan.affine[0, 0, :2] = (3000.25, -3000.25 * 30.5)
    plan.content[0, 0] = (0, 0, 33, 33)
    assert plan.affine[0, 0, 1] < -(2**15)
    assert_same(draw(plan), plan)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", pytest.param("NUMBA", marks=pytest.mark.long)])
def test_other_modes(mode):
    plan = device_batch(mosaic=0.5, copy_paste=0)
    assert_same(compiled(mode, pasted=0)(plan), plan)


def test_nothing_of_the_size_of_the_squares_is_made_of_them():
    squares = pt.tensor("squares", dtype="uint8", shape=(None, SIZE, SIZE, 3))
    images = render_graph(squares, plan_variables(BATCH), SIZE)
    readers = [v for v in ancestors([images]) if v.owner and squares in v.owner.inputs]
    assert {type(v.owner.op).__name__ for v in readers} == {"AdvancedSubtensor"}
