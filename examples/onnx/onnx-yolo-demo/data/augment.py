"""Augmentation of training images, and of their boxes: what is planned before any is drawn.

`make_plan` takes every random choice, from the generator that is passed in, and moves the boxes;
it looks at no pixel. `drawing` draws what was planned.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from data.images import to_corners, to_fractions
from data.things import LEAST_SIDE, Things
from numba import njit

LAYERS = 4  # pictures of a mosaic
PASTED = 2  # most things that are pasted into an image, each in a layer above the mosaic's
# Positions in a stored square are counted in units of 2**-16 px, and weights of the bilinear
# interpolation in 2**-11: 8 bits of a pixel and two weights fit an int32.
POSITION_BITS = 16
WEIGHT_BITS = 11
CHOICES = 13  # random numbers that a plan takes
PASTE_CHOICES = 7  # and further ones for each thing that may be pasted
VISIBLE = 0.3  # least part of a box that pasted things must leave uncovered
HELD_CHOICES = 8  # random numbers for what may be pasted onto a thing of each of four pictures
FITTING = 0.7, 1.4  # factors between which its length varies, as far as what is below allows:
MOST_HELD = 0.7  # its longer side, as a fraction of the shorter one of what is visible below
NEAR_EDGE = 0.03  # of its height, by which a box that ends above an edge still is cut by it
MOST_SCALE = 10  # what a range of scales may end with


class PasteOn(NamedTuple):
    """Things of one class that are pasted onto things of another: phones onto persons."""

    below: int  # class of the things pasted onto
    above: int  # class of the pasted things
    chance: float  # probability, for each picture that shows a large enough thing of class `below`
    things: Things  # of class `above`; see `things.find_held`


@dataclass(frozen=True)
class Augment:
    """What training images undergo; 0 turns a step off."""

    flip: float = 0.5  # probability of a left-right flip
    hue: float = 0.015  # it moves by up to this fraction of a turn
    saturation: float = 0.7  # it is multiplied by 1 plus or minus up to this
    value: float = 0.4  # likewise
    # Size is multiplied by 1 plus or minus up to this (below 1), or by a factor between two.
    scale: float | tuple[float, float] = 0.5
    translate: float = 0.1  # the centre moves by up to this fraction of the side
    mosaic: float = 0.0  # probability of joining four images
    copy_paste: float = 0.0  # probability of each of two things pasted from other images
    paste_on: PasteOn | None = None

    def __post_init__(self):
        numbers = {k: v for k, v in vars(self).items() if k not in ("scale", "paste_on")}
        numbers["paste_on"] = 0 if self.paste_on is None else self.paste_on.chance
        for name, number in numbers.items():
            if not 0 <= number <= 1:
                raise ValueError(f"Augment.{name} is {number}; it must lie between 0 and 1")
        if not isinstance(self.scale, tuple):
            if not 0 <= self.scale < 1:
                raise ValueError(f"Augment.scale is {self.scale}; it must be at least 0, below 1")
        elif not 0 < self.scale[0] <= self.scale[1] <= MOST_SCALE:
            raise ValueError(
                f"Augment.scale is {self.scale}; a range must rise from above 0 to {MOST_SCALE} at "
                "most"
            )

    def factor(self, chance):
        """Return what size is multiplied by, for a number uniform in [0, 1)."""
        if isinstance(self.scale, tuple):
            return self.scale[0] + chance * (self.scale[1] - self.scale[0])
        return 1 + _span(chance, self.scale)

    @property
    def pasted(self):
        """Most things that are pasted anywhere into an image."""
        return PASTED if self.copy_paste else 0

    @property
    def held(self):
        """Most things that are pasted onto things of an image; one for each of a mosaic's."""
        return LAYERS if self.paste_on else 0


class Plan(NamedTuple):
    """How images are drawn from stored squares; B images of up to L layers.

    Four layers are the pictures of a mosaic; where things are pasted, these are further layers:
    first those that are pasted anywhere, then those that are pasted onto others.

    Of several layers that cover a pixel the last one shows; where none does, the pixel is grey
    (114). The colour step follows, for all pixels.

    `affine` is ``ax, bx, ay, by``: output pixel (x, y) shows the point ``ax * (x + 0.5) + bx``,
    ``ay * (y + 0.5) + by`` of the stored square, whose pixel k has its centre at k + 0.5. The
    neighbours of the bilinear interpolation are clamped to `content`. Ends are excluded.
    """

    source: np.ndarray  # int32 (B, L): layers' images in the data set; 0 where unused
    window: np.ndarray  # int32 (B, L, 4): output pixels x0, y0, x1, y1; 0 where unused
    affine: np.ndarray  # float32 (B, L, 4)
    content: np.ndarray  # int32 (B, L, 4): left, top, right, bottom of what shows of the squares
    color: np.ndarray  # float32 (B, 3): shift of the hue in turns, factors of saturation and value


def plan_fields(layers):
    """Return the shape of one image's part, and the dtype, of each field of a `Plan`."""
    return [
        ((layers,), np.int32),
        ((layers, 4), np.int32),
        ((layers, 4), np.float32),
        ((layers, 4), np.int32),
        ((3,), np.float32),
    ]


def compiled(function):
    """Compile with Numba, outside the interpreter lock, and keep the code for later processes."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # No folder that can be written to: each process compiles for itself.
        return njit(nogil=True)(function)


# --------------------------------------------------------------------------------- planning


def _span(chance, reach):
    """Return a number uniform within ±`reach`, of one uniform in [0, 1)."""
    return (2 * chance - 1) * reach


def _content(geometry):
    """Return left, top, right and bottom of a picture in its square."""
    left, top = geometry.left, geometry.top
    return left, top, left + geometry.resized_width, top + geometry.resized_height


def keep_boxes(before, after, gain):
    """Return which boxes are still worth learning after a warp of scale `gain`; bool (n,).

    Those wider and higher than 2 px, with more than a tenth of the area left and sides in a ratio
    below 100. `before` and `after` are ``x1, y1, x2, y2`` (n, 4) in pixels, the latter clipped;
    `gain` may be one for each, (n,).
    """
    width, height = (after[:, 2:] - after[:, :2]).T
    old_width, old_height = (before[:, 2:] - before[:, :2]).T
    large = np.minimum(width, height) > 2
    visible = width * height > 0.1 * gain**2 * old_width * old_height
    return large & visible & (np.maximum(width, height) < 100 * np.minimum(width, height))


def _mosaic_partners(count, index, chance):
    """Choose three images to join with image `index` of `count`: distinct ones, if possible."""
    if count < LAYERS:
        return [int(u * count) for u in chance]
    chosen = [index]
    for u in chance:
        # The next of the images that are left, counted past those already chosen.
        partner = int(u * (count - len(chosen)))
        for taken in sorted(chosen):
            partner += partner >= taken
        chosen.append(partner)
    return chosen[1:]


def _mosaic_corners(contents, size, chance):
    """Return where pictures lie on the canvas: all have a corner at one random point."""
    x, y = (size // 2 + int(u * (size + 1)) for u in chance)
    placed = []
    for k, (left, top, right, bottom) in enumerate(contents):
        column, row = k % 2, k // 2
        placed.append((x - (1 - column) * (right - left), y - (1 - row) * (bottom - top)))
    return placed


@compiled
def _plan_layers(content, placed, canvas, backward, shift, size, window, affine):
    """Fill in windows and maps of the layers whose `content` lies at `placed` on the canvas."""
    for layer in range(len(placed)):
        empty = False
        for axis in range(2):
            first = placed[layer, axis]
            end = first + content[layer, axis + 2] - content[layer, axis]
            one = (max(first, 0) - canvas / 2) / backward[axis] + shift[axis]
            other = (min(end, canvas) - canvas / 2) / backward[axis] + shift[axis]
            # Pixels whose centres lie inside.
            low = math.ceil(min(max(min(one, other), 0), size) - 0.5)
            high = math.ceil(min(max(one, other, 0), size) - 0.5)
            window[layer, axis], window[layer, axis + 2] = low, high
            empty |= low >= high
            affine[layer, 2 * axis] = backward[axis]
            affine[layer, 2 * axis + 1] = (
                canvas / 2 - shift[axis] * backward[axis] - first + content[layer, axis]
            )
        if empty:
            window[layer] = 0


@compiled
def _move_boxes(boxes, layers, content, placed, canvas, backward, shift, size):
    """Return corners (n, 2, 4) of boxes in pixels: on the canvas, and in the output."""
    corners = np.empty((len(boxes), 2, 4))
    for k in range(len(boxes)):
        for axis in range(2):
            offset = placed[layers[k], axis] - content[layers[k], axis]
            middle = np.float64(boxes[k, axis]) * size + offset
            half = np.float64(boxes[k, axis + 2]) * size / 2
            low = min(max(middle - half, 0), canvas)
            high = min(max(middle + half, 0), canvas)
            corners[k, 0, axis], corners[k, 0, axis + 2] = low, high
            one = (low - canvas / 2) / backward[axis] + shift[axis]
            other = (high - canvas / 2) / backward[axis] + shift[axis]
            corners[k, 1, axis] = min(max(min(one, other), 0), size)
            corners[k, 1, axis + 2] = min(max(one, other, 0), size)
    return corners


@compiled
def _visible_parts(corners, layers, windows, first):
    """Find what can be seen of boxes: (n, 4) corners in the output, of some `layers`, (n,).

    `windows` are the layers' windows from `first` on. Boxes of such a layer end where its window
    does, and windows of later layers cover what is below. A window that ends within a pixel of a
    box's edge counts as if it ended at the edge, as so small a sliver can't be seen. Returns areas
    (n,), and corners (n, 4) around what is visible.
    """
    count = len(windows)
    areas, parts = np.zeros(len(corners)), np.zeros((len(corners), 4))
    covers, edges = np.empty((count, 4)), np.empty((2, 2 + 2 * count))
    for k in range(len(corners)):
        # All edges cut the box into cells, each of which is covered or visible as a whole.
        for axis in range(2):
            low, high = corners[k, axis], corners[k, axis + 2]
            if layers[k] >= first:
                low = max(low, np.float64(windows[layers[k] - first, axis]))
                high = max(min(high, np.float64(windows[layers[k] - first, axis + 2])), low)
            for w in range(count):
                for end in (axis, axis + 2):
                    edge = np.float64(windows[w, end])
                    edge = low if edge < low + 1 else edge
                    covers[w, end] = high if edge > high - 1 else edge
            edges[axis, :count], edges[axis, count:-2] = covers[:, axis], covers[:, axis + 2]
            edges[axis, -2], edges[axis, -1] = low, high
            edges[axis] = np.sort(edges[axis])
        for i in range(2 * count + 1):
            for j in range(2 * count + 1):
                x0, x1, y0, y1 = edges[0, i], edges[0, i + 1], edges[1, j], edges[1, j + 1]
                covered = x0 >= x1 or y0 >= y1
                for w in range(max(layers[k] + 1 - first, 0), count):
                    across = covers[w, 0] <= x0 and x1 <= covers[w, 2]
                    covered |= across and covers[w, 1] <= y0 and y1 <= covers[w, 3]
                if covered:
                    continue
                if areas[k] == 0:
                    parts[k, 0], parts[k, 1], parts[k, 2], parts[k, 3] = x0, y0, x1, y1
                areas[k] += (x1 - x0) * (y1 - y0)
                parts[k, 0], parts[k, 1] = min(parts[k, 0], x0), min(parts[k, 1], y0)
                parts[k, 2], parts[k, 3] = max(parts[k, 2], x1), max(parts[k, 3], y1)
    return areas, parts


def _paste(dataset, index, augment, chance, plan, gains, found):
    """Plan things of other images in the layers above the first four, and find their boxes.

    A thing (see `things.Things`) is scaled by a factor between the least and the greatest of
    `augment.scale`, as far as the limits of its sides allow; it is flipped as images are, and lies
    anywhere in the output.

    `chance` has `PASTE_CHOICES` numbers for each layer. `found` are the boxes so far: corners as
    `_move_boxes` gives them, classes and layers. Returns the same of all boxes of which enough is
    visible; `gains` are the layers' scales, which are filled in.
    """
    size, things, found = dataset.image_size, dataset.things, [found]
    for layer, (used, kind, which, zoom, mirror, x, y) in enumerate(chance, LAYERS):
        if used >= augment.copy_paste or (thing := things.choose(index, kind, which)) is None:
            continue
        sample, (least, most) = dataset[things.source[thing]], things.gains[thing].tolist()
        most = min(augment.factor(1), most)
        least = min(max(augment.factor(0), least), most)
        step = round(2**POSITION_BITS / (least + zoom * (most - least))) / 2**POSITION_BITS
        gains[layer] = 1 / step
        left, top, right, bottom = things.content[thing].tolist()
        # The side that comes first in the output goes to a random place where all of it fits.
        backward, first = (step, step), left
        if mirror < augment.flip:
            backward, first = (-step, step), right
        shift = (
            x * (size - (right - left) / step) - (first - size / 2) / backward[0],
            y * (size - (bottom - top) / step) - (top - size / 2) / step,
        )
        plan.source[layer], plan.content[layer] = things.source[thing], things.content[thing]
        one = slice(layer, layer + 1)
        content, warp = plan.content[one], (np.array([[left, top]]), size, backward, shift, size)
        _plan_layers(content, *warp, plan.window[one], plan.affine[one])
        layers = np.zeros(len(sample.classes), np.int64)
        corners = _move_boxes(sample.boxes, layers, content, *warp)
        found.append((corners, sample.classes, layers + layer))
    corners, classes, layers = map(np.concatenate, zip(*found, strict=True))
    areas, parts = _visible_parts(corners[:, 1], layers, plan.window[LAYERS:], LAYERS)
    visible = areas > VISIBLE * (corners[:, 1, 2:] - corners[:, 1, :2]).prod(axis=1)
    corners[:, 1] = parts
    return corners[visible], classes[visible], layers[visible]


def _fitting_lengths(corners, ends):
    """Return how long a phone is that fits persons, for their boxes (n, 4); pixels, (n,).

    A phone of 16 cm is a tenth as long as a grown-up person, about as long as a face, and a third
    as long as shoulders are wide. Of a person who lies or stands, the longer side of the box is the
    length of the body. Of one whom the lower edge of the picture cuts (a box reaches down to its
    entry of `ends`, (n,)), it is less, while the shorter side is that of the shoulders, or of less.
    """
    sides = corners[:, 2:] - corners[:, :2]
    cut = corners[:, 3] >= ends - NEAR_EDGE * sides[:, 1]
    return np.maximum(sides.max(axis=1) / 10, cut * sides.min(axis=1) / 3)


def _paste_on(dataset, augment, chance, plan, placed, canvas, shift, gains, found):
    """Plan things in the last four layers, each onto one of a mosaic's pictures; find their boxes.

    In each picture with a thing of class `below` onto which one fits (`_fitting_lengths`, times a
    factor within `FITTING`), one of these is chosen. Where the lower edge of its picture cuts it,
    every second pasted thing comes into view from there, perhaps not with all of it; the others are
    in the upper half. What is pasted ends where the picture does onto which it is pasted.

    `chance` has `HELD_CHOICES` numbers for each layer; the other parameters, and what is returned,
    are as in `_paste`, and `make_plan`'s warp. Boxes of class `below` keep their extent, as that
    of a person who holds a phone does in data sets.
    """
    size, on, first = dataset.image_size, augment.paste_on, len(plan.source) - LAYERS
    corners, classes, layers = found
    able = np.flatnonzero((classes == on.below) & (layers < LAYERS))
    whole, seen = corners[able, 0], corners[able, 1]
    ends = placed[:, 1] + (plan.content[: len(placed), 3] - plan.content[: len(placed), 1])
    lengths = _fitting_lengths(whole, np.minimum(ends, canvas)[layers[able]]) * gains[0]
    least, most = (factor * lengths for factor in FITTING)
    # So that half of what is visible below remains so, and a thing twice as long as wide can be
    # large enough.
    most = np.minimum(most, MOST_HELD * (seen[:, 2:] - seen[:, :2]).min(axis=1))
    fits = most >= np.maximum(least, 2 * LEAST_SIDE)
    found = [found]
    for part, (used, who, which, zoom, mirror, edge, x, y) in enumerate(chance):
        persons = np.flatnonzero(fits & (layers[able] == part))
        if used >= on.chance or not len(persons):
            continue
        person = persons[int(who * len(persons))]
        chosen = on.things.choose_fitting(plan.source[part], least[person], most[person], which)
        if chosen is None:
            continue
        thing, low, high = chosen
        step = round(2**POSITION_BITS / (low + zoom * (high - low))) / 2**POSITION_BITS
        layer, content = first + part, on.things.content[thing]
        gains[layer] = 1 / step
        left, top, right, bottom = content.tolist()
        width, height = (right - left) / step, (bottom - top) / step
        low_x, low_y, high_x, high_y = seen[person].tolist()
        end = plan.window[part, 3]
        # Where its centre is.
        if high_y >= end - NEAR_EDGE * (high_y - low_y) and edge < 0.5:
            center = (
                low_x + width / 4 + x * (high_x - low_x - width / 2),
                end - (0.1 + 0.65 * y) * height,
            )
        else:
            middle = (whole[person, [1, 3]].mean() - canvas / 2) * gains[0] + shift[1]
            high_y = max(min(middle, high_y - height / 2), low_y + height / 2)
            center = (
                low_x + width / 2 + x * (high_x - low_x - width),
                low_y + height / 2 + y * (high_y - low_y - height / 2),
            )
        backward = (-step if mirror < augment.flip else step, step)
        own = (
            center[0] - ((left + right - size) / 2) / backward[0],
            center[1] - ((top + bottom - size) / 2) / step,
        )
        plan.source[layer], plan.content[layer] = on.things.source[thing], content
        one = slice(layer, layer + 1)
        warp = (np.array([[left, top]]), size, backward, own, size)
        _plan_layers(plan.content[one], *warp, plan.window[one], plan.affine[one])
        plan.window[layer, :2] = np.maximum(plan.window[layer, :2], plan.window[part, :2])
        plan.window[layer, 2:] = np.minimum(plan.window[layer, 2:], plan.window[part, 2:])
        box = np.array([[(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]])
        box = _move_boxes(box / size, np.zeros(1, np.int64), plan.content[one], *warp)
        found.append((box, np.array([on.above], np.int32), np.array([layer])))
    if len(found) == 1:
        return found[0]
    corners, classes, layers = map(np.concatenate, zip(*found, strict=True))
    areas, parts = _visible_parts(corners[:, 1], layers, plan.window[first:], first)
    visible = areas > VISIBLE * (corners[:, 1, 2:] - corners[:, 1, :2]).prod(axis=1)
    shrink = classes != on.below
    corners[shrink, 1] = parts[shrink]
    return corners[visible], classes[visible], layers[visible]


def make_plan(dataset, index, augment, rng, pool=None):
    """Choose how an image is augmented, and move its boxes.

    A mosaic joins four pictures at a random point of a canvas of twice the side; otherwise the
    canvas is the letterboxed square. The canvas is scaled, shifted and perhaps flipped: its
    point X goes to ``±gain * (X - canvas / 2) + shift``. No canvas is ever drawn: each layer
    has its own window in the output, and its own map from there to its stored square.

    Where `augment.copy_paste` isn't 0, things of other images are pasted above at random places,
    scaled and flipped alone. Boxes that they cover shrink to what is visible, as boxes in data sets
    do; boxes of which less than `VISIBLE` is left are dropped. What `augment.paste_on` pastes is
    above these things.

    Of the `dataset` only geometry, boxes and classes are read; `rng` is the only source of chance.
    A mosaic's other pictures are any of the set, or of `pool`, indices that may repeat.

    Returns
    -------
    plan : Plan
        Of one image, without the batch axis; see `stack_plans`.
    boxes : float32 array, (n, 4)
        ``cx, cy, w, h`` as fractions of the side.
    classes : int32 array, (n,)
    """
    size, index = dataset.image_size, int(index)
    # Every plan takes as many numbers, whatever is chosen; those for pasting come last.
    chance = rng.random(CHOICES).tolist()
    joined, zoom, x, y, mirror, *color, center_x, center_y = chance[:10]
    chosen, canvas = [index], size
    if joined < augment.mosaic:
        if pool is None:
            chosen += _mosaic_partners(len(dataset), index, chance[10:])
        else:
            chosen += [int(pool[int(u * len(pool))]) for u in chance[10:]]
        canvas = 2 * size
    samples = [dataset[k] for k in chosen]
    contents = [_content(sample.geometry) for sample in samples]
    placed = [contents[0][:2]]
    if len(chosen) > 1:
        placed = _mosaic_corners(contents, size, (center_x, center_y))
    # Source positions of neighbouring pixels differ by whole units, which renderers keep exactly.
    step = round(2**POSITION_BITS / augment.factor(zoom)) / 2**POSITION_BITS
    backward = (-step if mirror < augment.flip else step, step)
    shift = tuple((0.5 + _span(u, augment.translate)) * size for u in (x, y))
    gains = (augment.hue, augment.saturation, augment.value)
    fields = plan_fields(LAYERS + augment.pasted + augment.held)
    plan = Plan(*(np.zeros(shape, dtype) for shape, dtype in fields))
    plan.source[: len(chosen)] = chosen
    plan.content[: len(chosen)] = contents
    plan.color[:] = [
        (k > 0) + _span(u, gain) for k, (u, gain) in enumerate(zip(color, gains, strict=True))
    ]
    warp = (np.array(placed), canvas, backward, shift, size)
    _plan_layers(plan.content, *warp, plan.window, plan.affine)
    counts = [len(sample.classes) for sample in samples]
    boxes = np.concatenate([sample.boxes for sample in samples])
    classes = np.concatenate([sample.classes for sample in samples])
    layers = np.arange(len(chosen)).repeat(counts)
    corners = _move_boxes(boxes, layers, plan.content, *warp)
    found, gains = (corners, classes, layers), np.full(len(plan.source), 1 / step)
    if augment.copy_paste:
        chance = rng.random((PASTED, PASTE_CHOICES)).tolist()
        found = _paste(dataset, index, augment, chance, plan, gains, found)
    if augment.paste_on:
        chance = rng.random((LAYERS, HELD_CHOICES)).tolist()
        found = _paste_on(dataset, augment, chance, plan, warp[0], canvas, shift, gains, found)
    corners, classes, layers = found
    keep = keep_boxes(corners[:, 0], corners[:, 1], gains[layers])
    return plan, to_fractions(corners[keep, 1], size), classes[keep]


def move_regions(dataset, plan):
    """Find where a planned image shows regions (`dataset.Sample`) of its pictures.

    Each is cut to the window of its layer, and stays however little of it is left: what shows is
    still no background. A pasted rectangle brings what it shows of its picture's regions. It hides
    none below it: the thing in it has a box, which is learned inside of a region, too.

    Returns
    -------
    regions : float32 array, (n, 4)
        ``cx, cy, w, h`` as fractions of the side.
    classes : int32 array, (n,)
    """
    size, regions, classes = dataset.image_size, [np.empty((0, 2, 2))], [np.empty(0, np.int32)]
    for layer in np.flatnonzero(plan.window[:, 2]):
        sample = dataset[plan.source[layer]]
        slopes, starts = plan.affine[layer].reshape(2, 2).T
        ends = (to_corners(sample.regions, size).reshape(-1, 2, 2) - starts) / slopes
        window = plan.window[layer].reshape(2, 2)
        regions.append(np.sort(ends, axis=1).clip(*window))
        classes.append(sample.region_classes)
    ends, classes = np.concatenate(regions), np.concatenate(classes)
    shown = (ends[:, 0] < ends[:, 1]).all(axis=1)
    return to_fractions(ends[shown].reshape(-1, 4), size), classes[shown]


def stack_plans(plans):
    """Stack plans of single images, as `make_plan` returns them, to the plan of a batch."""
    return Plan(*(np.stack(field) for field in zip(*plans, strict=True)))
