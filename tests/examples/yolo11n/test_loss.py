"""The loss against golden vectors, against a plain second implementation, and at its extremes."""

from unittest import mock

import loss
import numpy as np
import pytest
from loss import CHUNK, ciou, task_aligned_assign, yolo_loss
from model import LEVELS, make_anchors
from scipy.special import expit, softmax
from training.train_step import target_inputs

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from tests.examples import yolo11n_golden as golden

jax = pytest.importorskip("jax")

pytestmark = pytest.mark.usefixtures("compiled_sooner")

STRIDES = (8, 16, 32)
PARTS = ("box_loss", "cls_loss", "dfl_loss")
# Rectangular, so that no mix-up of height and width goes unnoticed.
SMALL = {"height": 64, "width": 96, "num_classes": 3}


def symbolic_inputs(height, width, num_classes, batch=None, max_boxes=None):
    """Return variables of predictions and targets, by name."""
    predictions = {
        level: pt.tensor(
            level,
            dtype="float32",
            shape=(batch, 64 + num_classes, height // stride, width // stride),
        )
        for level, stride in zip(LEVELS, STRIDES, strict=True)
    }
    return predictions, {v.name: v for v in target_inputs(batch, max_boxes)}


class LossFunction:
    """A compiled loss with everything that the tests look at, by name."""

    def __init__(self, height, width, num_classes, mode):
        predictions, targets = symbolic_inputs(height, width, num_classes)
        assigned = []

        def assign(*args):
            assigned.append(task_aligned_assign(*args))
            return assigned[0]

        with mock.patch.object(loss, "task_aligned_assign", assign):
            total, parts = yolo_loss(predictions, targets, num_classes)
        grads = pytensor.grad(total, list(predictions.values()))
        looked_at = assigned[0]._replace(boxes=pt.stack(assigned[0].boxes, axis=-1))
        self.names = ["total", *parts, *(f"grad_{level}" for level in LEVELS), *looked_at._fields]
        inputs = [*predictions.values(), *targets.values()]
        outputs = [total, *parts.values(), *grads, *looked_at]
        self.function = pytensor.function(inputs, outputs, mode=mode)

    def __call__(self, maps, targets):
        outputs = self.function(*maps, *targets)
        return {n: np.asarray(o) for n, o in zip(self.names, outputs, strict=True)}


@pytest.fixture(scope="module", params=golden.FORMS)
def golden_loss(request):
    return LossFunction(320, 320, 2, jax_mode(**request.param))


@pytest.fixture(scope="module")
def small_loss():
    return LossFunction(**SMALL, mode=jax_mode())


@pytest.fixture(scope="module")
def golden_maps():
    file = golden.load_arrays(golden.CORE / "train_nc2.npz")
    return [np.concatenate([file[f"box_{p}"], file[f"cls_{p}"]], axis=1) for p in LEVELS]


@pytest.mark.by_default("cpu-empty", "cpu-tiny", "cpu-dense", "gpu-empty", "gpu-tiny", "gpu-dense")
@pytest.mark.slow
@pytest.mark.parametrize("case", ["main", "empty", "tiny", "dense"])
def test_golden_loss_and_assignment(golden_loss, golden_maps, case):
    expected, rtol = golden.load_json("loss_nc2.json")[case], 1e-4 if case == "tiny" else 1e-5
    got = golden_loss(golden_maps, golden.targets(case, 32))
    for name in PARTS:
        np.testing.assert_allclose(got[name], expected[name[:3]], rtol=rtol, err_msg=name)
    np.testing.assert_allclose(got["total"], expected["total"], rtol=rtol)
    sum_of_scores = got["scores"].sum(dtype=np.float64)
    np.testing.assert_allclose(sum_of_scores, expected["target_scores_sum"], rtol=rtol)
    if case == "main":
        assert got["foreground"].sum(axis=1).tolist() == expected["fg_count_per_image"]

    wanted = golden.load_arrays(golden.CORE / f"assign_{case}.npz")
    strict = wanted["target_scores"].max(axis=1) > 0
    image, anchor = wanted["fg_image_anchor"][strict].T
    positive = np.zeros(got["foreground"].shape, dtype=bool)
    positive[image, anchor] = True
    np.testing.assert_array_equal(got["scores"].max(axis=1) > 0, positive)
    index = wanted["gt_index_in_image"][strict]
    np.testing.assert_array_equal(got["gt_index"][image, anchor], index)
    # A CIoU just above 0 has few good digits, and its seventh power fewer; hence `atol`.
    scores, boxes = wanted["target_scores"][strict], wanted["target_boxes_xyxy_px"][strict]
    np.testing.assert_allclose(got["scores"][image, :, anchor], scores, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(got["boxes"][image, anchor], boxes, rtol=1e-6, atol=1e-4)


@pytest.mark.slow
def test_golden_gradient(golden_loss, golden_maps):
    got = golden_loss(golden_maps, golden.targets("main", 32))
    grads = np.concatenate([got[f"grad_{p}"].reshape(2, 66, -1) for p in LEVELS], axis=2)
    expected = golden.load_arrays(golden.CORE / "grads_raw_nc2.npz")
    image, anchor = expected["boxes_nonzero_image_anchor"].T
    boxes = np.zeros((2, 64, 2100), dtype=np.float32)
    boxes[image, :, anchor] = expected["boxes_nonzero_grad"]
    for part, wanted in [(grads[:, :64], boxes), (grads[:, 64:], expected["scores_grad"])]:
        assert np.linalg.norm(part - wanted) < 1e-3 * np.linalg.norm(wanted)
    assert not grads[:, :64][boxes == 0].any()


def loss_of_layers(layers, before=None, **more):
    """Compile gradients and parts of the loss of pictures that aren't labelled for all classes."""
    predictions, targets = symbolic_inputs(**SMALL)
    targets["windows"] = pt.tensor("windows", dtype="int32", shape=(None, layers, 4))
    targets["labelled"] = pt.tensor("labelled", dtype="uint8", shape=(None, layers, 3))
    targets |= more
    total, parts = yolo_loss(predictions, targets, SMALL["num_classes"], before=before)
    grads = pytensor.grad(total, list(predictions.values()))
    inputs = [*predictions.values(), *targets.values(), *(before or {}).values()]
    return pytensor.function(inputs, [*grads, *parts.values()], mode=jax_mode())


def filled(targets, filler):
    """Return the same targets with something else in the padded rows."""
    boxes, classes, counts = (np.array(v) for v in targets)
    padded = np.arange(boxes.shape[1]) >= counts[:, None]
    boxes[padded], classes[padded] = filler, -1
    return boxes, classes, counts


@pytest.mark.slow
def test_what_is_not_labelled_stays_as_before():
    """Gradients are differences of scores, and of distributions by the best of the old scores.

    They are divided by the sum of the old scores, however few boxes are labelled.
    """
    before, _ = symbolic_inputs(**SMALL)
    function = loss_of_layers(1, before)
    maps, (boxes, classes, counts) = small_case(2)
    old = [np.random.default_rng(5).normal(size=m.shape).astype(np.float32) for m in maps]
    windows = np.array([[[0, 0, 96, 64]]] * 2, np.int32)
    labelled, counts = np.zeros((2, 1, 3), np.uint8), np.zeros_like(counts)
    targets = boxes, classes, counts, windows, labelled
    norm = sum(expit(other[:, 64:]).sum() for other in old)
    for map_, other, grad in zip(maps, old, function(*maps, *targets, *old)[:3], strict=True):
        new_scores, old_scores = expit(map_[:, 64:]), expit(other[:, 64:])
        np.testing.assert_allclose(grad[:, 64:] * norm, new_scores - old_scores, atol=1e-5)
        shape = (2, 4, 16, *map_.shape[2:])
        change = softmax(map_[:, :64].reshape(shape), 2) - softmax(other[:, :64].reshape(shape), 2)
        wanted = 1.5 * 2 / 4 * change * old_scores.max(axis=1)[:, None, None]
        np.testing.assert_allclose(grad[:, :64].reshape(shape) * norm, wanted, atol=1e-5)
    labelled[:] = 1  # all is background
    plain = loss_of_layers(1)(*maps, *targets)
    for own, wanted in zip(function(*maps, *targets, *old), plain, strict=True):
        np.testing.assert_array_equal(own, wanted)


@pytest.mark.slow
def test_what_is_not_labelled_has_no_gradient(small_loss):
    """A mosaic of two pictures and a strip pasted on the left one; some of them lack class 1."""
    function = loss_of_layers(3)
    maps, (boxes, classes, counts) = small_case(2)
    classes[classes == 1] = 2
    windows = np.array([[[0, 0, 48, 48], [48, 0, 96, 64], [0, 32, 48, 48]]] * 2, np.int32)
    labelled = np.ones((2, 3, 3), np.uint8)
    plain = small_loss(maps, (boxes, classes, counts))
    *same, _, _, _ = function(*maps, boxes, classes, counts, windows, labelled)
    for level, own in zip(LEVELS, same, strict=True):
        np.testing.assert_array_equal(own, plain[f"grad_{level}"])

    for known, unlabelled in (
        ((1, 0, 0), lambda x, y: (x >= 48) | ((y >= 32) & (y < 48))),
        ((0, 1, 1), lambda x, y: (x < 48) & (y < 32)),  # of the left picture the strip's rest
    ):
        labelled[0, :, 1] = known
        *grads, box, cls, dfl = function(*maps, boxes, classes, counts, windows, labelled)
        for level, stride, own in zip(LEVELS, STRIDES, grads, strict=True):
            expected = plain[f"grad_{level}"].copy()
            assert expected[0, 65].all()
            y, x = np.mgrid[stride // 2 : 64 : stride, stride // 2 : 96 : stride]
            expected[0, 65, unlabelled(x, y)] = 0
            np.testing.assert_array_equal(own, expected)
        assert (box, dfl) == (plain["box_loss"], plain["dfl_loss"])
        assert cls < plain["cls_loss"]

    # What has a box counts there, too: as an example of its class, never as one without.
    classes[0] = 1
    labelled[0] = 0
    *grads, _, _, _ = function(*maps, boxes, classes, counts, windows, labelled)
    positive = small_loss(maps, (boxes, classes, counts))["scores"][0, 1] > 0
    found = np.concatenate([own[0, 64:].reshape(3, -1) for own in grads], axis=1)
    assert positive.any()
    # Padding below the left picture is labelled: nothing is on it.
    grids = [np.mgrid[s // 2 : 64 : s, s // 2 : 96 : s].reshape(2, -1) for s in STRIDES]
    y, x = np.concatenate(grids, axis=1)
    padding = (y >= 48) & (x < 48)
    np.testing.assert_array_equal(found[1] != 0, positive | padding)
    np.testing.assert_array_equal(found[0] != 0, padding)


def in_regions(boxes, regions, labels):
    """Tell of which classes regions have the centre, or half the area, of boxes: bool (2, C, A)."""
    found = np.zeros((2, SMALL["num_classes"], len(boxes)), bool)
    for (left, top, right, bottom), label in zip(regions, labels, strict=True):
        for a, (x1, y1, x2, y2) in enumerate(boxes):
            x, y = (x1 + x2) / 2, (y1 + y2) / 2
            width, height = min(x2, right) - max(x1, left), min(y2, bottom) - max(y1, top)
            covered = max(width, 0) * max(height, 0) / ((x2 - x1) * (y2 - y1))
            found[0, label, a] |= left < x < right and top < y < bottom
            found[1, label, a] |= covered > 0.5
    return found


@pytest.mark.slow
def test_what_is_predicted_in_a_region_is_no_background(small_loss):
    """Against loops over regions and anchors; rows of zeros are no regions."""
    function = loss_of_layers(
        1,
        regions=pt.tensor("regions", dtype="float32", shape=(None, 4, 4)),
        region_classes=pt.tensor("region_classes", dtype="int32", shape=(None, 4)),
    )
    windows = np.array([[[0, 0, 96, 64]]] * 2, np.int32)

    def joined(maps):
        return np.concatenate([np.reshape(m, (2, 67, -1)) for m in maps], axis=2)

    rng, seen = np.random.default_rng(0), np.zeros(3, int)
    for seed in range(4):
        maps, boxes = small_case(seed)
        for own in maps:  # boxes of all sizes, some of them on one side of their anchor
            less = np.tile(np.arange(16) * rng.uniform(0, 2), 4)
            own[:, :64] = 4 * own[:, :64] - less[:, None, None]
        regions = np.concatenate([rng.uniform(0, 1, (2, 4, 2)), rng.uniform(0, 0.8, (2, 4, 2))], 2)
        labels = rng.integers(0, 3, (2, 4)).astype(np.int32)
        regions[0, 3], labels[0, 3] = (0.5, 0.5, 1.0, 1.0), 1  # a whole picture
        regions[1, 2:], labels[1, 2:] = 0, 0
        plain, expected = small_loss(maps, boxes), reference_loss(maps, *boxes, 3)
        positive = plain["scores"] > 0
        middle, half = np.split(regions * np.tile([96, 64], 2), [2], axis=2)
        corners = np.concatenate([middle - half / 2, middle + half / 2], axis=2)
        rules = map(in_regions, expected["pred"], corners, labels)
        centre, area = np.stack([*rules], axis=1)
        left_out = (centre | area) & ~positive
        seen += [each.sum() for each in (centre & ~area, area, centre & positive)]
        labelled = np.ones((2, 1, 3), np.uint8)
        for missing in (False, True):
            labelled[0, 0, 2] = not missing
            left_out[0, 2] |= missing & ~positive[0, 2]
            given = (windows, labelled, regions.astype(np.float32), labels)
            *grads, box, cls, dfl = function(*maps, *boxes, *given)
            own, others = joined(grads), joined([plain[f"grad_{level}"] for level in LEVELS])
            others[:, 64:][left_out] = 0
            np.testing.assert_array_equal(own, others)
            assert (box, dfl) == (plain["box_loss"], plain["dfl_loss"])
            logits = joined(maps)[:, 64:].astype(float)
            entropy = np.logaddexp(0, logits) - logits * expected["scores"]
            want = 0.5 * entropy[~left_out].sum() / max(expected["scores"].sum(), 1)
            np.testing.assert_allclose(cls, want, rtol=1e-5)
    assert (seen > 20).all(), seen


@pytest.mark.slow
def test_rows_whose_corners_sum_to_zero_or_less_are_no_boxes(small_loss):
    maps, (boxes, classes, _) = small_case(0)
    hidden = small_loss(maps, (boxes, classes, np.array([2, 0], dtype=np.int32)))
    boxes[0, 2:], boxes[1] = 0, [-0.2, 0.1, 0.5, 0.5]
    listed = small_loss(maps, (boxes, classes, np.array([6, 6], dtype=np.int32)))
    for name in hidden:
        if name != "boxes":
            np.testing.assert_array_equal(listed[name], hidden[name])


def small_case(seed, batch=2, max_boxes=6, scale=1.5):
    """Draw random maps, and boxes that overlap each other; an image may have none."""
    rng = np.random.default_rng(seed)
    height, width, num_classes = SMALL.values()
    maps = [
        (scale * rng.standard_normal((batch, 64 + num_classes, height // s, width // s))).astype(
            np.float32
        )
        for s in STRIDES
    ]
    centres = rng.uniform(0.3, 0.7, (batch, max_boxes, 2))
    sides = rng.uniform(0.04, 1.1, (batch, max_boxes, 2))
    boxes = np.concatenate([centres, sides], axis=-1).astype(np.float32)
    classes = rng.integers(0, num_classes, (batch, max_boxes)).astype(np.int32)
    counts = rng.integers(2 - seed % 3, max_boxes + 1, batch).astype(np.int32)
    return maps, (boxes, classes, counts)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [2, 3, pytest.param(1, marks=pytest.mark.long)])
def test_against_plain_numpy(small_loss, batch):
    for seed in range(6):
        maps, targets = small_case(seed, batch)
        got = small_loss(maps, targets)
        expected = reference_loss(maps, *targets, SMALL["num_classes"])
        positive, wanted = (
            scores.max(axis=1) > 0 for scores in (got["scores"], expected["scores"])
        )
        np.testing.assert_array_equal(positive, wanted)
        np.testing.assert_allclose(got["scores"], expected["scores"], rtol=2e-4, atol=1e-8)
        for name in (*PARTS, "total"):
            np.testing.assert_allclose(got[name], expected[name], rtol=1e-5, err_msg=name)


def saturated(seed, magnitude):
    maps, targets = small_case(seed)
    return [np.where(m > 0, magnitude, -magnitude).astype(np.float32) for m in maps], targets


def with_collapsed_boxes(raw):
    """Put all weight on bin 0 of each side: boxes that are points at the anchors."""
    raw = raw.copy()
    raw[:, :64] = -1e4
    raw[:, :64:16] = 1e4
    return raw


def boxes_of(*rows_per_image):
    """Return the three target arrays of lists of (class, cx, cy, w, h)."""
    boxes, classes = np.zeros((2, 6, 4), np.float32), np.zeros((2, 6), np.int32)
    for image, rows in enumerate(rows_per_image):
        for i, (label, *box) in enumerate(rows):
            boxes[image, i], classes[image, i] = box, label
    return boxes, classes, np.array([len(rows) for rows in rows_per_image], dtype=np.int32)


RANDOM_MAPS, RANDOM_TARGETS = small_case(0)
EXTREMES = {
    "no boxes": (RANDOM_MAPS, boxes_of([], [])),
    "all padding, not a number": (RANDOM_MAPS, filled(boxes_of([], []), np.nan)),
    "one image without boxes": (RANDOM_MAPS, boxes_of([], [(1, 0.5, 0.5, 0.4, 0.4)])),
    "saturated": saturated(1, 1e4),
    "all logits equal": ([0 * m for m in RANDOM_MAPS], small_case(2)[1]),
    "no area": (
        RANDOM_MAPS,
        boxes_of([(0, 0.5, 0.5, 0, 0), (1, 0.5, 0.5, 0.3, 0)], [(2, 0.5, 0.5, 0, 0.3)]),
    ),
    "larger than the image": (RANDOM_MAPS, boxes_of([(0, 0.5, 0.5, 9, 9)], [])),
    "the same box three times": (RANDOM_MAPS, boxes_of([(0, 0.5, 0.5, 0.4, 0.6)] * 3, [])),
    "predictions without area": ([with_collapsed_boxes(m) for m in RANDOM_MAPS], RANDOM_TARGETS),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", EXTREMES)
def test_stays_finite(small_loss, case):
    maps, targets = EXTREMES[case]
    got = small_loss(maps, targets)
    for name, value in got.items():
        if name != "boxes":
            assert np.isfinite(value).all(), name
    expected = reference_loss(maps, *targets, SMALL["num_classes"])
    for name in (*PARTS, "total"):
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-4, err_msg=name)
    if case.startswith(("no boxes", "all padding")):
        assert got["box_loss"] == got["dfl_loss"] == 0
        assert not got["foreground"].any()


@pytest.mark.slow
def test_of_equal_boxes_the_first_gets_the_anchors(small_loss):
    got = small_loss(*EXTREMES["the same box three times"])
    assert got["foreground"][0].any()
    assert not got["gt_index"][0].any()
    assert not got["scores"][0, 1:].any()


def test_equal_metrics_still_claim_ten_anchors():
    # Four anchors per quarter of a box that all predict that box: every metric is the same.
    centres, stride = make_anchors([(8, 8)], strides=[8])
    box = [np.full((1, 64), v, dtype=np.float32) for v in (0, 0, 64, 64)]
    scores = np.full((1, 1, 64), 0.5, dtype=np.float32)
    assignment = task_aligned_assign(
        [pt.as_tensor(corner) for corner in box],
        pt.as_tensor(scores),
        [pt.as_tensor(corner[:, :1]) for corner in box],
        pt.zeros((1, 1), dtype="int32"),
        pt.ones((1, 1), dtype="bool"),
        centres * stride,
    )
    foreground = pytensor.function([], assignment.foreground, mode="FAST_COMPILE")()
    assert np.flatnonzero(foreground[0]).tolist() == list(range(10))


def test_ciou():
    table = [
        ((0, 0, 2, 4), (0, 0, 2, 4), 1),
        # IoU 8/24; centres 2 apart in a hull of 6 x 4.
        ((0, 0, 4, 4), (2, 0, 6, 4), 8 / 24 - 4 / 52),
        # The same one downwards.
        ((0, 0, 4, 4), (0, 2, 4, 6), 8 / 24 - 4 / 52),
        # Disjoint: the centres 3 apart in a hull of 4 x 1.
        ((0, 0, 1, 1), (3, 0, 4, 1), -9 / 17),
        # A cross: IoU 4/12, v = 4/pi^2 (atan 2 - atan 1/2)^2 = 0.167827.
        ((0, 0, 4, 2), (1, -1, 3, 3), 4 / 12 - 0.167827 * 0.167827 / (8 / 12 + 0.167827)),
        # One inside the other: IoU 1/16, centres (-1.5, -1.5) apart in a hull of 4 x 4.
        ((0, 0, 4, 4), (0, 0, 1, 1), 1 / 16 - 4.5 / 32),
        # Points: the hull is what keeps the result finite.
        ((0, 0, 0, 0), (3, 4, 3, 4), -1),
    ]
    *boxes, expected = (np.array(column, np.float32) for column in zip(*table, strict=True))
    for pair in (boxes, boxes[::-1]):
        got = ciou(*([pt.as_tensor(side) for side in box.T] for box in pair))
        assert got.dtype == "float32"
        np.testing.assert_allclose(got.eval(mode="FAST_COMPILE"), expected, rtol=2e-5)


def test_batches_must_agree(small_loss):
    maps, _ = small_case(0, batch=2)
    _, targets = small_case(0, batch=1)
    with pytest.raises(ValueError, match="Invalid shape"):
        small_loss(maps, targets)


# Targets in chunks


def static_loss(chunk, mode, height, width, num_classes, batch, max_boxes):
    """Compile loss and gradients of inputs whose shapes are static."""
    predictions, targets = symbolic_inputs(height, width, num_classes, batch, max_boxes)
    total, parts = yolo_loss(predictions, targets, num_classes, chunk=chunk)
    grads = pytensor.grad(total, list(predictions.values()))
    inputs = [*predictions.values(), *targets.values()]
    return pytensor.function(inputs, [total, *parts.values(), *grads], mode=mode)


def crowded_case(seed):
    """Draw 20 boxes that overlap each other, of which one image has all and another has few."""
    maps, (boxes, classes, _) = small_case(seed, batch=2, max_boxes=20)
    boxes[:, 5] = boxes[:, 19]  # to be given to the first of them
    return [*maps, boxes, classes, np.array([20, seed % 8], np.int32)]


@pytest.mark.by_default("FAST_COMPILE")
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "JAX", pytest.param(jax_mode(), id="jax_mode")])
def test_chunks_of_boxes_change_nothing(mode):
    whole, chunks = (static_loss(n, mode, **SMALL, batch=2, max_boxes=20) for n in (None, 7))
    for seed in range(4):
        values = crowded_case(seed)
        expected = whole(*values)
        assert np.count_nonzero(expected[-2])
        for got, wanted in zip(chunks(*values), expected, strict=True):
            if mode == "FAST_COMPILE":
                np.testing.assert_array_equal(got, wanted)
            else:  # XLA contracts multiply-adds in one program, and in the other not
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_memory_of_crowded_pictures():
    """5,000 boxes in a picture, 16 pictures at 640 px: below 300 MB; 200 boxes take 514 at once."""
    function = static_loss(CHUNK, jax_mode(), 640, 640, 2, 16, 5000)
    types = [v.type for v in function.maker.fgraph.inputs]
    shapes = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types]
    lowered = function.vm.jit_fn.lower(*shapes)
    assert lowered.compile().memory_analysis().temp_size_in_bytes < 300e6
    # Chunks without a box are passed over, in the loops over claims and over scales.
    text = lowered.as_text()
    assert (text.count("stablehlo.while"), text.count("stablehlo.case")) == (2, 2)


# A second implementation in float64: one image, one box and one anchor at a time where it matters.


def reference_ciou(a, b, eps=1e-7):
    """Return CIoU of two arrays of boxes (..., 4) in three pieces: ``rest - weight * aspect``."""
    w_a, h_a = a[..., 2] - a[..., 0], a[..., 3] - a[..., 1] + eps
    w_b, h_b = b[..., 2] - b[..., 0], b[..., 3] - b[..., 1] + eps
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    inner = np.prod(np.clip(high - low, 0, None), axis=-1)
    iou = inner / (w_a * h_a + w_b * h_b - inner + eps)
    hull = np.maximum(a[..., 2:], b[..., 2:]) - np.minimum(a[..., :2], b[..., :2])
    centres = (b[..., :2] + b[..., 2:] - a[..., :2] - a[..., 2:]) / 2
    distance = (centres**2).sum(axis=-1) / ((hull**2).sum(axis=-1) + eps)
    v = 4 / np.pi**2 * (np.arctan(w_b / h_b) - np.arctan(w_a / h_a)) ** 2
    return iou - distance, v, v / (1 - iou + v + eps)


def reference_assignment(boxes, scores, gt, gt_classes, centres):
    """Return target scores (C, A) and rows (A,) of one image; -1 where there is none."""
    num_boxes, num_anchors = len(gt), len(boxes)
    inside = np.zeros((num_boxes, num_anchors), dtype=bool)
    overlap = np.zeros((num_boxes, num_anchors))
    metric = np.zeros((num_boxes, num_anchors))
    claimed = np.zeros((num_boxes, num_anchors), dtype=bool)
    for g, (box, cls) in enumerate(zip(gt, gt_classes, strict=True)):
        middle, side = (box[:2] + box[2:]) / 2, np.maximum(box[2:] - box[:2], 16)
        for a, centre in enumerate(centres):
            gaps = np.concatenate([centre - (middle - side / 2), middle + side / 2 - centre])
            inside[g, a] = gaps.min() > 1e-9
        rest, aspect, weight = reference_ciou(box, boxes)
        overlap[g] = np.where(inside[g], np.clip(rest - weight * aspect, 0, None), 0)
        metric[g] = scores[cls] ** 0.5 * overlap[g] ** 6
        best = np.argsort(-metric[g], kind="stable")[:10]
        claimed[g, best] = metric[g, best] > 0

    row = np.full(num_anchors, -1)
    for a in range(num_anchors):
        if claimed[:, a].sum() == 1:
            row[a] = claimed[:, a].argmax()
        elif claimed[:, a].sum() > 1:
            row[a] = overlap[:, a].argmax()
    target = np.zeros_like(scores)
    for g, cls in enumerate(gt_classes):
        mine = np.flatnonzero(row == g)
        if mine.size:
            scale = overlap[g, mine].max() / (metric[g, mine].max() + 1e-9)
            target[cls, mine] = metric[g, mine] * scale
    return target, row


def reference_loss(maps, boxes, classes, counts, num_classes):
    maps = [np.asarray(m, dtype=np.float64) for m in maps]
    batch, (height, width) = len(maps[0]), (8 * side for side in maps[0].shape[2:])
    centres, strides = [], []
    for raw, stride in zip(maps, STRIDES, strict=True):
        for y in range(raw.shape[2]):
            for x in range(raw.shape[3]):
                centres.append((x + 0.5, y + 0.5))
                strides.append(stride)
    centres, strides = np.array(centres), np.array(strides)[:, None]
    flat = np.concatenate([m.reshape(*m.shape[:2], -1) for m in maps], axis=2)

    box = cls = dfl = 0.0
    scores = np.zeros((batch, num_classes, len(centres)))
    boxes_of_all = np.zeros((batch, len(centres), 4))
    for image in range(batch):
        logits = flat[image, :64].reshape(4, 16, -1)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        distance = np.einsum("sba,b->as", np.exp(log_p), np.arange(16.0))
        pred = np.concatenate([centres - distance[:, :2], centres + distance[:, 2:]], axis=1)
        raw_scores = flat[image, 64:]

        listed = boxes[image, : counts[image]].astype(np.float64) * [width, height, width, height]
        gt = np.concatenate(
            [listed[:, :2] - listed[:, 2:] / 2, listed[:, :2] + listed[:, 2:] / 2], 1
        )
        keep = gt.sum(axis=1) > 0
        probabilities = np.exp(-np.logaddexp(0, -raw_scores))
        target, row = reference_assignment(
            pred * strides,
            probabilities,
            gt[keep],
            classes[image, : counts[image]][keep],
            centres * strides,
        )
        row = np.where(row >= 0, np.append(np.flatnonzero(keep), -1)[row], -1)
        scores[image], boxes_of_all[image] = target, pred * strides
        cls += (np.logaddexp(0, raw_scores) - raw_scores * target).sum()
        for a in np.flatnonzero(row >= 0):
            weight, goal = target[:, a].sum(), gt[row[a]] / strides[a]
            rest, aspect, aspect_weight = reference_ciou(pred[a], goal)
            box += (1 - (rest - aspect_weight * aspect)) * weight
            true = np.concatenate([centres[a] - goal[:2], goal[2:] - centres[a]])
            for side, t in enumerate(np.clip(true, 0, 14.99)):
                low = int(t)
                fraction = t - low
                entropy = (1 - fraction) * log_p[side, low, a] + fraction * log_p[side, low + 1, a]
                dfl -= entropy / 4 * weight
    norm = max(scores.sum(), 1)
    parts = {
        name: gain * part / norm
        for name, gain, part in zip(PARTS, (7.5, 0.5, 1.5), (box, cls, dfl), strict=True)
    }
    return {
        **parts,
        "total": sum(parts.values()) * batch,
        "scores": scores,
        "pred": boxes_of_all,
    }
