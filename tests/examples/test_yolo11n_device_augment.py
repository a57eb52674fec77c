"""Drawing augmented images on the device: the same pixels as on the host."""

import numpy as np
import pytest
from data.augment import Augment, Plan, make_plan, render, stack_plans
from data.device_augment import plan_variables, render_graph
from data.images import letterbox
from dataset import Sample

import pytensor
import pytensor.tensor as pt
from pytensor.graph.traversal import ancestors

SIZE, BATCH = 33, 10
SHAPES = [(33, 33), (33, 12), (14, 33), (1, 1), (33, 1), (1, 33), (21, 26), (300, 200)]


class Pictures:
    """A data set of pictures of noise, in memory."""

    def __init__(self, size=SIZE):
        rng = np.random.default_rng(3)
        self.image_size = size
        self.samples = []
        for k, shape in enumerate(SHAPES):
            picture = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
            square, geometry = letterbox(picture, size)
            none = np.zeros((0, 4), np.float32), np.zeros(0, np.int32)
            self.samples.append(Sample(square, *none, k, geometry))
        self.squares = np.stack([sample.image for sample in self.samples])

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


DATASET = Pictures()


def batch_of(augment, first=0):
    return stack_plans(
        [
            make_plan(DATASET, k % len(DATASET), augment, np.random.default_rng(k))[0]
            for k in range(first, first + BATCH)
        ]
    )


def compiled(mode):
    squares = pytensor.shared(DATASET.squares, shape=DATASET.squares.shape)
    plan = plan_variables(BATCH)
    draw = pytensor.function(list(plan), render_graph(squares, plan, SIZE), mode=mode)
    return lambda plan: np.asarray(draw(*plan))


@pytest.fixture(scope="module")
def draw():
    pytest.importorskip("jax")
    return compiled("JAX")


def assert_same(got, plan):
    want = render(plan, DATASET.squares)
    assert got.dtype == np.float32
    assert got.shape == want.shape
    levels = np.rint(got * 255)
    np.testing.assert_allclose(got, levels / 255, rtol=3e-7)
    difference = np.abs(levels - want)
    assert difference.max() <= 1
    assert (difference == 0).mean() >= 0.999


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_device_draws_what_the_host_draws(draw, mosaic):
    flips = outside = 0
    for first in range(0, 60, BATCH):
        plan = batch_of(Augment(mosaic=mosaic, translate=0.3), first)
        assert_same(draw(plan), plan)
        flips += (plan.affine[:, 0, 0] < 0).sum()
        outside += (plan.window[:, :, 2] == 0).sum() - (0 if mosaic else 3 * BATCH)
    assert 15 < flips < 45
    assert outside > (5 if mosaic else 0)


def test_device_without_augmentation(draw):
    still = Augment(**dict.fromkeys(vars(Augment()), 0.0))
    plan = batch_of(still)
    squares = DATASET.squares[plan.source[:, 0]].transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(np.rint(draw(plan) * 255), squares)


def test_device_with_extreme_scale_and_colors(draw):
    plan = batch_of(Augment(scale=0.99, hue=1, saturation=1, value=1, mosaic=0.5))
    assert_same(draw(plan), plan)


def test_device_with_overlapping_layers_and_none(draw):
    plan = batch_of(Augment(mosaic=1.0))
    plan.window[0] = [(0, 0, 20, 20), (5, 5, 30, 33), (0, 0, 0, 33), (10, 10, 15, 40 - 7)]
    plan.window[1] = 0
    plan.color[1] = (0.3, 1.5, 1.25)
    got = draw(plan)
    assert_same(got, plan)
    assert (np.rint(got[1] * 255) == 143).all()  # 114 * 1.25 = 142.5


def test_device_positions_beyond_an_int32_elsewhere(draw):
    # In units of 2**-16 px, the map starts far below -2**31; only its last pixels are used.
    plan = batch_of(Augment())
    plan.window[0, 0] = (29, 0, 33, 33)
    plan.affine[0, 0, :2] = (3000.25, -3000.25 * 30.5)
    plan.content[0, 0] = (0, 0, 33, 33)
    assert plan.affine[0, 0, 1] < -(2**15)
    assert_same(draw(plan), plan)


def test_other_modes():
    plan = batch_of(Augment(mosaic=0.5, translate=0.3))
    assert_same(compiled("FAST_COMPILE")(plan), plan)


@pytest.mark.slow
def test_numba_mode():
    plan = batch_of(Augment(mosaic=0.5, translate=0.3))
    assert_same(compiled("NUMBA")(plan), plan)


def test_graph_has_no_float64_and_known_shapes():
    plan = plan_variables(BATCH)
    assert [variable.name for variable in plan] == list(Plan._fields)
    given = batch_of(Augment())
    assert [v.type.shape for v in plan] == [field.shape for field in given]
    assert [v.dtype for v in plan] == [field.dtype.name for field in given]
    squares = pt.tensor("squares", dtype="uint8", shape=(None, SIZE, SIZE, 3))
    images = render_graph(squares, plan, SIZE)
    assert images.type.shape == (BATCH, 3, SIZE, SIZE)
    assert images.dtype == "float32"
    assert not {v.dtype for v in ancestors([images]) if v.ndim} & {"float64", "int64"}
    assert "float64" not in {v.dtype for v in ancestors([images])}
    # Nothing of the size of the squares is ever made of them.
    readers = [v for v in ancestors([images]) if v.owner and squares in v.owner.inputs]
    assert {type(v.owner.op).__name__ for v in readers} == {"AdvancedSubtensor"}


def test_gradient_stops_at_the_images():
    plan = plan_variables(BATCH)
    squares = pytensor.shared(DATASET.squares)
    weight = pytensor.shared(np.float32(2.0))
    loss = (weight * render_graph(squares, plan, SIZE)).sum()
    gradient = pytensor.grad(loss, weight)
    given = batch_of(Augment(mosaic=0.5))
    got = pytensor.function(list(plan), gradient, mode="FAST_COMPILE")(*given)
    want = render(given, DATASET.squares).sum(dtype=np.int64) / 255
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_squares_must_be_bytes():
    with pytest.raises(TypeError, match="must be uint8"):
        render_graph(pt.tensor4("squares", dtype="float32"), plan_variables(2), SIZE)
