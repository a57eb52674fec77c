"""The training loss of YOLO11 as a PyTensor graph: raw maps and padded targets in, scalars out.

`yolo_loss` calls the others in the order in which they stand here: the box head's logits become
boxes, `task_aligned_assign` decides which anchor learns which target, and three losses compare.

Shapes are written with B images, A anchors (the cells of P3, then P4, then P5, each row-major),
M target boxes per image (padded) and C classes.  Boxes are tuples ``(x1, y1, x2, y2)`` of four
tensors instead of one tensor with an axis of four, so that B x M x A pairs are compared without
ever being stacked, and so that the anchors, the long axis, stay contiguous.

All floating-point arithmetic is float32 whatever ``config.floatX`` says.  PyTensor makes a
double of a Python float that has no exact float32 value (``x * 1e-7``), hence the constants.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from blocks import Detect
from model import LEVELS, make_anchors

import pytensor.tensor as pt
from pytensor import scan
from pytensor.conditional import ifelse
from pytensor.gradient import disconnected_grad
from pytensor.tensor.collectives import all_reduce
from pytensor.tensor.precision import full_precision
from pytensor.tensor.topk import topk

BINS = Detect.reg_max
BIN_NUMBERS = np.arange(BINS, dtype=np.float32)[None, None, :, None]  # against (B, 4, 16, A)
# The last distance the bins can express is 15; a target there would need a 17th bin.
MAX_DISTANCE = np.float32(BINS - 1 - 0.01)

BOX_GAIN = np.float32(7.5)
CLS_GAIN = np.float32(0.5)
DFL_GAIN = np.float32(1.5)

CANDIDATES_PER_BOX = 10
MIN_SIDE = np.float32(16.0)
ASSIGN_EPS = np.float32(1e-9)
CHUNK = 64  # boxes of an image that the assigner compares with all anchors at once
NO_ROW = np.int32(np.iinfo(np.int32).max)

CIOU_EPS = np.float32(1e-7)
FOUR_OVER_PI_SQUARED = np.float32(4 / np.pi**2)
type Corners = tuple[Any, ...] | list[Any]  # four tensors: x1, y1, x2, y2
type Maps = dict[str, Any]  # of tensors


def yolo_loss(
    predictions: Maps, targets: Maps, num_classes: int, devices: int = 1,
    chunk: int | None = CHUNK, before: Maps | None = None,
) -> tuple[Any, Maps]:  # fmt: skip
    """Compute the training loss of a YOLO11 detector.

    Parameters
    ----------
    predictions : dict
        Raw maps ``"p3"``, ``"p4"``, ``"p5"``, float32 (B, 64 + num_classes, H, W) with static H
        and W: box logits, then class logits, at strides 8, 16 and 32.
    targets : dict
        ``"boxes"``, float32 (B, M, 4): ``cx, cy, w, h`` as fractions of the network input;
        ``"classes"``, int32 (B, M); ``"num_boxes"``, int32 (B,): how many rows of each image
        count.  M is at least 1; the other rows may hold anything.  Where images aren't labelled
        for all classes, also ``"windows"``, int32 (B, L, 4): corners of layers in pixels, the last
        of which shows; and ``"labelled"``, uint8 (B, L, C): of which classes all things in a layer
        have a box.  Of the others only what has a box counts there, as in LVIS (Gupta et al.,
        CVPR 2019, section 2.2): nothing is taken for background.  Where there are regions, also
        ``"regions"``, float32 (B, R, 4), as boxes, and ``"region_classes"``, int32 (B, R); rows of
        zeros are none.  A predicted box whose centre is in one is no background of its class.
    num_classes : int
    devices : int
        How many devices share a batch, of which each has B images.  Then totals and parts are this
        device's share of the whole batch's: the sum over the devices is what one would compute.
    chunk : int, optional
        See `task_aligned_assign`.
    before : dict, optional
        What the starting weights predict for the same images, as `predictions`.  Where images
        aren't labelled for a class, its scores and boxes are to stay so (learning without
        forgetting: Li and Hoiem, ECCV 2016, arXiv 1606.09282); a box counts by its score.

    Returns
    -------
    total : float32 scalar
        What to minimise: the sum of the parts times B, or the images of all devices.
    parts : dict
        ``"box_loss"``, ``"cls_loss"`` and ``"dfl_loss"``, float32 scalars with their gains of 7.5,
        0.5 and 1.5.  Each is a sum over all anchors, divided by the sum of the target scores.
    """
    batch_size = targets["num_boxes"].shape[0]
    box_logits, class_logits, sizes = flatten_predictions(predictions, batch_size, num_classes)
    centres, stride = make_anchors(sizes)
    height, width = (side * Detect.strides[0] for side in sizes[0])

    distances = box_distances(box_logits)
    pred_boxes = distances_to_boxes(distances.expected, centres)  # in units of the grid's cells
    gt_boxes, gt_valid = target_boxes_in_pixels(targets, height, width)
    in_pixels = [corner * stride for corner in pred_boxes]
    target = task_aligned_assign(
        in_pixels, pt.sigmoid(class_logits),
        gt_boxes, targets["classes"], gt_valid, centres * stride, chunk,
    )  # fmt: skip
    target_boxes = [corner / stride for corner in target.boxes]

    images = batch_size.astype("float32") * np.float32(devices)
    norm = norm_of(target.weight, devices)
    box = sum32((np.float32(1) - ciou(pred_boxes, target_boxes)) * target.weight) / norm
    dfl = sum32(distribution_focal_loss(distances, target_boxes, centres) * target.weight) / norm
    entropy = binary_cross_entropy(class_logits, target.scores)
    kept = np.float32(0)
    if "labelled" in targets:
        known = labelled_anchors(targets["windows"], targets["labelled"], centres * stride)
        known = known | (target.scores > 0)
        entropy = pt.switch(known, entropy, np.float32(0))
        if before is not None:
            old_logits, old_class_logits, _ = flatten_predictions(before, batch_size, num_classes)
            old_scores = pt.switch(known, np.float32(0), pt.sigmoid(old_class_logits))
            best = pt.switch(target.weight > 0, np.float32(0), old_scores.max(axis=1))
            # Of its own: few labelled boxes must not weigh less than many old ones.
            old_norm = norm_of(old_scores, devices)
            changed = cross_entropy_of_boxes(distances, box_distances(old_logits))
            dfl += sum32(changed * best) / old_norm
            changed = binary_cross_entropy(class_logits, old_scores)
            kept = sum32(pt.switch(known, np.float32(0), changed)) / old_norm
    if "regions" in targets:
        regions = corners_in_pixels(targets["regions"], height, width)
        ignored = ignored_anchors(in_pixels, regions, targets["region_classes"], num_classes)
        entropy = pt.switch(ignored & ~(target.scores > 0), np.float32(0), entropy)
    cls = sum32(entropy) / norm + kept

    parts = {"box_loss": BOX_GAIN * box, "cls_loss": CLS_GAIN * cls, "dfl_loss": DFL_GAIN * dfl}
    return sum(parts.values()) * images, parts


def norm_of(scores: Any, devices: int = 1) -> Any:
    """Return the divisor of a part of the loss: the sum of scores on all `devices`, at least 1."""
    total = sum32(scores)
    if devices > 1:
        (total,) = all_reduce([total])
    return pt.maximum(total, np.float32(1))


def sum32(x: Any, axis: int | None = None) -> Any:
    """Sum in float32.

    PyTensor adds up float32 in float64, and its JAX backend hands the float64 result on where
    64-bit types are enabled: from the first sum, everything downstream would be a double.
    """
    return x.sum(axis=axis, acc_dtype="float32")


# ------------------------------------------------------------------------------ boxes


def flatten_predictions(predictions: Maps, batch_size: Any, num_classes: int) -> tuple[Any, ...]:
    """Return box logits (B, 64, A), class logits (B, C, A), and each level's (height, width).

    `batch_size` is B as the shape of an input has it.  Read off the predictions it would be a
    formula through all the network's shapes, and JAX reshapes to no formula (that of a `split`,
    for one).
    """
    channels = 4 * BINS + num_classes
    maps, sizes = [], []
    for level in LEVELS:
        raw = predictions[level]
        height, width = raw.type.shape[2:]
        sizes.append((height, width))
        raw = pt.specify_shape(raw, (batch_size, channels, height, width))
        # All that follows is float32 in a training run in mixed precision too.
        maps.append(full_precision(raw).reshape((batch_size, channels, height * width)))
    flat = pt.concatenate(maps, axis=2)
    return flat[:, : 4 * BINS], flat[:, 4 * BINS :], sizes


class BoxDistances(NamedTuple):
    """Distributions over the distances left, top, right, bottom, in units of the grid's cells."""

    expected: pt.TensorVariable  # float32 (B, 4, A): means of the distributions
    shifted: pt.TensorVariable  # float32 (B, 4, 16, A): logits less their maximum over the bins
    log_norm: pt.TensorVariable  # float32 (B, 4, A): logarithm of the sum of exp(shifted)


def box_distances(logits: Any) -> BoxDistances:
    """Return `BoxDistances` of logits, float32 (B, 64, A), whose channels are ``16 * side + bin``.

    Softmax and log-softmax share one exponential here.
    """
    logits = logits.reshape((logits.shape[0], 4, BINS, logits.type.shape[-1]))
    # A constant shift changes neither result, so the maximum needs no gradient.
    shifted = logits - disconnected_grad(logits.max(axis=2, keepdims=True))
    weights = pt.exp(shifted)
    norm = sum32(weights, axis=2)
    expected = sum32(weights * BIN_NUMBERS, axis=2) / norm
    # The largest bin adds exp(0), so the cut-off changes nothing; without it PyTensor would see a
    # log-sum-exp to stabilise, and compute a second maximum and a second exponential for it.
    return BoxDistances(expected, shifted, pt.log(pt.maximum(norm, np.float32(1))))


def distances_to_boxes(distances: Any, centres: np.ndarray) -> Corners:
    """Return corners, four float32 (B, A), of distances (B, 4, A) from anchor centres (2, A)."""
    # Split, not indexed: its gradient is a join instead of four additions into zeros.
    sides = pt.split(distances, [1, 1, 1, 1], n_splits=4, axis=1)
    left, top, right, bottom = (side.squeeze(1) for side in sides)
    x, y = centres
    return x - left, y - top, x + right, y + bottom


def corners_in_pixels(rows: Any, height: int, width: int) -> Corners:
    """Return corners, four float32 (B, M), of ``cx, cy, w, h`` in fractions, (B, M, 4)."""
    size = np.array([width, height, width, height], dtype=np.float32)
    cx, cy, w, h = ((rows * size)[..., i] for i in range(4))
    half_w, half_h = w * np.float32(0.5), h * np.float32(0.5)
    return cx - half_w, cy - half_h, cx + half_w, cy + half_h


def target_boxes_in_pixels(targets: Maps, height: int, width: int) -> tuple[Corners, Any]:
    """Return the targets' corners, four float32 (B, M), and which are real boxes, bool (B, M)."""
    rows = targets["boxes"]
    listed = pt.arange(rows.shape[1], dtype="int32")[None, :] < targets["num_boxes"][:, None]
    corners = corners_in_pixels(rows, height, width)
    # Padding may hold anything, NaN included: from here on it holds zeros.
    x1, y1, x2, y2 = (pt.switch(listed, corner, np.float32(0)) for corner in corners)
    return (x1, y1, x2, y2), x1 + y1 + x2 + y2 > 0


def labelled_anchors(windows: Any, labelled: Any, centres: np.ndarray) -> Any:
    """Tell for which classes the surroundings of an anchor are labelled: bool (B, C, A).

    `windows` and `labelled` are from `yolo_loss`, `centres` the anchors' in pixels, (2, A).
    Where no layer lies, there is padding, on which nothing is.
    """
    x, y = centres
    x0, y0, x1, y1 = (windows[:, :, side, None] for side in range(4))
    inside = (x >= x0) & (x < x1) & (y >= y0) & (y < y1)  # (B, L, A)
    known = pt.ones((1, 1, 1), dtype=bool)
    for layer in range(windows.type.shape[1]):
        own = pt.neq(labelled[:, layer, :, None], 0)
        known = pt.switch(inside[:, layer, None, :], own, known)
    return known


def ignored_anchors(pred_boxes: Corners, regions: Corners, classes: Any, num_classes: int) -> Any:
    """Tell of which classes there are regions with the centre of a predicted box: bool (B, C, A).

    A region that covers more than half of a box has its centre, too, for it covers more than half
    of either side.  `pred_boxes` are four (B, A), `regions` four (B, R), `classes` (B, R).  The
    result has no gradient.
    """
    x1, y1, x2, y2 = (disconnected_grad(corner)[:, None, :] for corner in pred_boxes)
    left, top, right, bottom = (side[:, :, None] for side in regions)
    x, y = (x1 + x2) * np.float32(0.5), (y1 + y2) * np.float32(0.5)
    inside = (x > left) & (x < right) & (y > top) & (y < bottom)  # (B, R, A)
    numbers = np.arange(num_classes, dtype=np.int32)[None, :, None]
    own = pt.eq(classes[:, None, :], numbers)  # (B, C, R)
    return (own[:, :, :, None] & inside[:, None]).any(axis=2)


# ------------------------------------------------------------------------------ assignment


class Assignment(NamedTuple):
    """What each anchor is to learn; nothing in it has a gradient."""

    foreground: pt.TensorVariable  # bool (B, A): the anchor has a target box
    gt_index: pt.TensorVariable  # int32 (B, A): its row among the image's targets; 0 without one
    weight: pt.TensorVariable  # float32 (B, A): target score at the box's class; 0 without one
    boxes: Corners  # four float32 (B, A), pixels; some box of the image, or zeros, without one
    scores: pt.TensorVariable  # float32 (B, C, A): `weight` at the box's class, 0 elsewhere


def centres_inside(boxes: Corners, centres: np.ndarray) -> Any:
    """Tell which anchor centres (2, A) lie strictly inside which boxes: bool (B, M, A).

    Sides shorter than `MIN_SIDE` are enlarged to it about the box centre first; otherwise the
    smallest objects would fall between the anchors and never be learnt.
    """
    x1, y1, x2, y2 = boxes
    grow_x = pt.maximum(MIN_SIDE - (x2 - x1), np.float32(0)) * np.float32(0.5)
    grow_y = pt.maximum(MIN_SIDE - (y2 - y1), np.float32(0)) * np.float32(0.5)
    x1, y1, x2, y2 = (
        side[:, :, None] for side in (x1 - grow_x, y1 - grow_y, x2 + grow_x, y2 + grow_y)
    )
    x, y = centres
    nearest = pt.minimum(pt.minimum(x - x1, x2 - x), pt.minimum(y - y1, y2 - y))
    return nearest > ASSIGN_EPS


class Rows(NamedTuple):
    """Some target boxes of each image, m of them, as the assigner compares them with anchors."""

    x1: pt.TensorVariable  # float32 (B, m), pixels, and so the other corners
    y1: pt.TensorVariable
    x2: pt.TensorVariable
    y2: pt.TensorVariable
    classes: pt.TensorVariable  # integers (B, m)
    valid: pt.TensorVariable  # bool (B, m)
    number: pt.TensorVariable  # int32 (1, m): the row among the image's targets

    @property
    def boxes(self) -> Corners:
        """Return the corners."""
        return self[:4]


class Claims(NamedTuple):
    """Say which boxes, of those looked at, an anchor may go to: each is (B, A)."""

    claimants: pt.TensorVariable  # float32: how many claim it
    row: pt.TensorVariable  # int32: the first of them, or `NO_ROW`
    overlap: pt.TensorVariable  # float32: its largest overlap with a box, claiming or not
    nearest: pt.TensorVariable  # int32: the first box with that overlap


def task_aligned_assign(
    pred_boxes: Corners, pred_scores: Any, gt_boxes: Corners, gt_classes: Any, gt_valid: Any,
    centres: np.ndarray, chunk: int | None = CHUNK,
) -> Assignment:  # fmt: skip
    """Give each anchor at most one target box, by how well it already does: an `Assignment`.

    Task alignment learning: Feng et al., "TOOD" (ICCV 2021), section 3.2, with YOLO11's
    constants.  An anchor whose centre lies in a box is a candidate for it, with the metric
    ``score^0.5 * overlap^6``, `overlap` being the CIoU cut off at 0.  Each box claims its ten best
    candidates; an anchor claimed by several boxes goes to the one that it overlaps most, claimed
    or not (the first of them if equal).  Its target score is its metric, scaled such that the
    best anchor of a box gets that box's best overlap.  A candidate with metric 0 is never claimed:
    it would get target score 0 and teach nothing.

    Boxes and `centres`, (2, A), are in pixels; `pred_boxes` are four (B, A), `gt_boxes` four
    (B, M), `pred_scores` probabilities (B, C, A), `gt_classes` integers and `gt_valid` bool (B, M).
    Where M is static and larger than `chunk`, loops take at most `chunk` boxes of an image at once,
    and pass over those that aren't valid in any image: the same result in less memory.  With None
    there is no loop, for backends that have none.
    """
    pred_boxes = [disconnected_grad(corner) for corner in pred_boxes]
    root_score = pt.sqrt(disconnected_grad(pred_scores))
    length = gt_classes.type.shape[1]
    number = pt.arange(gt_classes.shape[1] if length is None else length, dtype="int32")[None, :]
    x1, y1, x2, y2 = gt_boxes
    rows = Rows(x1, y1, x2, y2, gt_classes, gt_valid, number)
    chunks = 1 if None in (length, chunk) else math.ceil(length / chunk)

    claims = find_claims(rows, pred_boxes, root_score, centres, chunks)
    foreground = claims.claimants > 0
    gt_index = pt.switch(claims.claimants > 1, claims.nearest, claims.row)
    gt_index = pt.switch(foreground, gt_index, np.int32(0))

    image = pt.arange(gt_classes.shape[0], dtype="int32")[:, None]
    anchor = np.arange(centres.shape[1], dtype=np.int32)
    boxes = tuple(corner[image, gt_index] for corner in gt_boxes)
    own_class = gt_classes[image, gt_index]
    own_score = root_score[image, pt.switch(foreground, own_class, 0), anchor]
    overlap, metric = alignment(boxes, pred_boxes, own_score, foreground)
    owner = pt.switch(foreground, gt_index, np.int32(-1))
    scale = find_scales(rows, owner, overlap, metric, chunks)
    weight = metric * scale[image, gt_index]

    numbers = np.arange(pred_scores.type.shape[1], dtype=np.int32)[None, :, None]
    own_class = pt.eq(own_class[:, None, :], numbers)
    scores = pt.switch(own_class, weight[:, None, :], np.float32(0))
    return Assignment(foreground, gt_index, weight, boxes, scores)


def alignment(
    gt_boxes: Corners, pred_boxes: Corners, root_score: Any, candidate: Any
) -> tuple[Any, Any]:
    """Return overlap and metric of `task_aligned_assign`: 0 for what is no candidate."""
    overlap = pt.maximum(ciou(gt_boxes, pred_boxes), np.float32(0))
    overlap = pt.switch(candidate, overlap, np.float32(0))
    cube = overlap * overlap * overlap
    return overlap, root_score * (cube * cube)


def claims_of(rows: Rows, pred_boxes: Corners, root_score: Any, centres: np.ndarray) -> Claims:
    """Return the `Claims` of some boxes."""
    image = pt.arange(rows.classes.shape[0], dtype="int32")[:, None]
    anchor = np.arange(centres.shape[1], dtype=np.int32)
    overlap, metric = alignment(
        [corner[:, :, None] for corner in rows.boxes],
        [corner[:, None, :] for corner in pred_boxes],
        root_score[image, pt.switch(rows.valid, rows.classes, 0)],
        centres_inside(rows.boxes, centres) & rows.valid[:, :, None],
    )
    best, best_anchor = topk(metric, CANDIDATES_PER_BOX, axis=-1)
    # The claimed anchors by comparison with the tenth best, which a GPU prefers to a scatter;
    # among equals `topk` takes the lower index first.
    last, last_anchor = best[..., -1:], best_anchor[..., -1:].astype("int32")
    claimed = (metric > last) | (pt.eq(metric, last) & (anchor <= last_anchor))
    claimed = claimed & (metric > 0)

    # Counted in float32: JAX counts Booleans in int64.
    count = sum32(claimed.astype("float32"), axis=1)
    most = overlap.max(axis=1)
    # The first maximum; XLA turns plain reductions into faster code than an argmax.
    number = rows.number[:, :, None]
    row = pt.switch(claimed, number, NO_ROW).min(axis=1)
    nearest = pt.switch(pt.eq(overlap, most[:, None, :]), number, NO_ROW).min(axis=1)
    return Claims(count, row, most, nearest)


def merged(before: Claims, new: Claims) -> Claims:
    """Return the `Claims` of two sets of boxes; all numbers of the second are higher."""
    return Claims(
        before.claimants + new.claimants,
        pt.minimum(before.row, new.row),
        pt.maximum(before.overlap, new.overlap),
        pt.switch(new.overlap > before.overlap, new.nearest, before.nearest),
    )


def scale_of(rows: Rows, owner: Any, overlap: Any, metric: Any) -> Any:
    """Return by what metrics of the anchors of boxes are multiplied, float32 (B, m).

    The others are (B, A): the row that an anchor belongs to, or -1, and what it has with its box.
    """
    mine = pt.eq(owner[:, None, :], rows.number[:, :, None])
    overlap = pt.switch(mine, overlap[:, None, :], np.float32(0)).max(axis=2)
    metric = pt.switch(mine, metric[:, None, :], np.float32(0)).max(axis=2)
    return overlap / (metric + ASSIGN_EPS)


def find_claims(
    rows: Rows, pred_boxes: Corners, root_score: Any, centres: np.ndarray, chunks: int
) -> Claims:
    """Return the `Claims` of all boxes, found at once or in a loop over `chunks` chunks of them."""
    if chunks == 1:
        return claims_of(rows, pred_boxes, root_score, centres)

    def body(number: Any, *args: Any) -> Any:
        before, others = Claims(*args[:4]), args[4:]
        part, (*boxes, scores) = chunk_of(others[5:], number), others[:5]
        new = merged(before, claims_of(part, boxes, scores, centres))
        return ifelse(part.valid.any(), list(new), list(before))

    none = pt.zeros_like(pred_boxes[0])
    no_row = pt.full_like(none, int(NO_ROW), dtype="int32")
    last = scan(
        body,
        sequences=pt.arange(chunks),
        outputs_info=[none, no_row, none - np.float32(1), no_row],
        non_sequences=[*pred_boxes, root_score, *in_chunks(rows, chunks)],
        return_updates=False,
    )
    return Claims(*(states[-1] for states in last))


def find_scales(rows: Rows, owner: Any, overlap: Any, metric: Any, chunks: int) -> Any:
    """Return `scale_of` all boxes, found at once or in a loop over `chunks` chunks of them."""
    if chunks == 1:
        return scale_of(rows, owner, overlap, metric)

    def body(number: Any, owner: Any, overlap: Any, metric: Any, *parts: Any) -> Any:
        part = chunk_of(parts, number)
        scale = scale_of(part, owner, overlap, metric)
        return ifelse(part.valid.any(), scale, pt.zeros_like(scale))

    scales = scan(
        body,
        sequences=pt.arange(chunks),
        non_sequences=[owner, overlap, metric, *in_chunks(rows, chunks)],
        return_updates=False,
    )
    return scales.dimshuffle(1, 0, 2).reshape((rows.classes.shape[0], -1))


def in_chunks(rows: Rows, chunks: int) -> list[Any]:
    """Return each of the rows' variables as (chunks, B, m), with zeros at the end if need be."""
    length = rows.classes.type.shape[1]
    each = math.ceil(length / chunks)
    parts = []
    for values in rows:
        zeros = pt.zeros((values.shape[0], chunks * each - length), dtype=values.type.dtype)
        padded = pt.concatenate([values, zeros], axis=1)
        parts.append(padded.reshape((values.shape[0], chunks, each)).dimshuffle(1, 0, 2))
    return parts


def chunk_of(parts: Sequence[Any], number: Any) -> Rows:
    """Return the `Rows` of one of the chunks of `in_chunks`.

    They are indexed, and no sequences of a scan, for PyTensor computes by all elements of a
    sequence at once what a scan would by each.
    """
    return Rows(*(part[number] for part in parts))


# ------------------------------------------------------------------------------ comparisons


def ciou(a: Corners, b: Corners) -> Any:
    """Complete IoU of boxes that broadcast against each other: IoU - (d² / c² + weight * aspect).

    Zheng et al., "Distance-IoU Loss" (AAAI 2020), equations 10 to 12; d is the distance of the
    centres, c the diagonal of the smallest box around both.  The small constants are YOLO11's; they
    make the result finite, with finite gradients, for boxes without area too.  In the gradient the
    aspect's weight counts as a constant.
    """
    ax1, ay1, ax2, ay2 = a
    bx1, by1, bx2, by2 = b
    # Heights cannot be negative.  The cut-off keeps PyTensor, which sorts the terms of a sum, from
    # adding the epsilon to a coordinate first, where float32 would lose it.
    aw, ah = ax2 - ax1, pt.maximum(ay2 - ay1, np.float32(0)) + CIOU_EPS
    bw, bh = bx2 - bx1, pt.maximum(by2 - by1, np.float32(0)) + CIOU_EPS

    inner_w = pt.maximum(pt.minimum(ax2, bx2) - pt.maximum(ax1, bx1), np.float32(0))
    inner_h = pt.maximum(pt.minimum(ay2, by2) - pt.maximum(ay1, by1), np.float32(0))
    inner = inner_w * inner_h
    iou = inner / (aw * ah + bw * bh - inner + CIOU_EPS)

    outer_w = pt.maximum(ax2, bx2) - pt.minimum(ax1, bx1)
    outer_h = pt.maximum(ay2, by2) - pt.minimum(ay1, by1)
    diagonal = pt.sqr(outer_w) + pt.sqr(outer_h) + CIOU_EPS
    # Twice the distance between the centres: the factor 1/4 comes once, on the squares.
    dx = (bx1 + bx2) - (ax1 + ax2)
    dy = (by1 + by2) - (ay1 + ay2)
    distance = (pt.sqr(dx) + pt.sqr(dy)) * np.float32(0.25)

    # The arctangents are taken before the boxes meet: per box, not per pair.
    aspect = FOUR_OVER_PI_SQUARED * pt.sqr(pt.arctan(bw / bh) - pt.arctan(aw / ah))
    # Rounding can put the IoU of two equal boxes above 1, and the sum below at zero.
    gap = pt.maximum(np.float32(1) - iou, np.float32(0))
    weight = disconnected_grad(aspect / (gap + aspect + CIOU_EPS))
    return iou - (distance / diagonal + weight * aspect)


def binary_cross_entropy(logits: Any, targets: Any) -> Any:
    """Compute the binary cross-entropy of logits by element; finite for any finite logit.

    ``-t log(s) - (1 - t) log(1 - s)`` with s the sigmoid of the logit.
    """
    return pt.softplus(logits) - logits * targets


def distribution_focal_loss(distances: BoxDistances, boxes: Corners, centres: np.ndarray) -> Any:
    """Compute the cross-entropy of `BoxDistances` and true distances, mean of four sides: (B, A).

    Li et al., "Generalized Focal Loss" (NeurIPS 2020), section 3.2: a distance between two bins
    is a target at both, weighted by nearness.  Boxes and anchor `centres` are in units of cells.
    """
    x1, y1, x2, y2 = boxes
    x, y = centres
    true = pt.stack([x - x1, y - y1, x2 - x, y2 - y], axis=1)
    true = pt.clip(true, np.float32(0), MAX_DISTANCE)
    # A tent of half-width 1 about the distance: 1 - fraction and fraction at the two bins next
    # to it, 0 elsewhere.
    distance = abs(true[:, :, None, :] - BIN_NUMBERS)
    nearness = pt.maximum(np.float32(1) - distance, np.float32(0))
    loss = distances.log_norm - sum32(nearness * distances.shifted, axis=2)
    return sum32(loss, axis=1) * np.float32(0.25)


def cross_entropy_of_boxes(distances: BoxDistances, old: BoxDistances) -> Any:
    """Compute the cross-entropy of distributions and earlier ones, mean of four sides: (B, A)."""
    log_old = old.shifted - old.log_norm[:, :, None]
    log_new = distances.shifted - distances.log_norm[:, :, None]
    return -sum32(sum32(pt.exp(log_old) * log_new, axis=2), axis=1) / np.float32(4)
