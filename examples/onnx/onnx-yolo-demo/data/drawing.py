"""Drawing planned images: on the host by compiled code, on the device as a PyTensor graph.

Both sample in whole numbers and change colours in float32, so they can differ only in the colours,
by rounding. Where the device draws, the stored squares stay there: the host only plans a batch, and
sends a few hundred bytes an image.
"""

import numpy as np
from data.augment import LAYERS, POSITION_BITS, WEIGHT_BITS, Plan, compiled, plan_fields
from data.images import FILL

import pytensor.tensor as pt

# ------------------------------------------------------------------------------ on the host


@compiled
def _neighbors(slope, start, stop, low, high, first, second, weight):
    """Compute where output pixels 0 to `stop` lie along one axis of a stored square.

    Fills `first` and `second` with the neighbours of ``slope * (x + 0.5) + start - 0.5``, clamped
    to `low` and `high`, and `weight` with the part of the second, in units of ``2**-WEIGHT_BITS``.
    """
    units = 2**POSITION_BITS
    step = round(np.float64(slope) * units)
    position = round(np.float64(start) * units) + (step >> 1) - units // 2
    drop = POSITION_BITS - WEIGHT_BITS
    for x in range(stop):
        near = (position + step * x + (1 << (drop - 1))) >> drop
        weight[x] = near & (2**WEIGHT_BITS - 1)
        near >>= WEIGHT_BITS
        first[x] = min(max(near, low), high - 1)
        second[x] = min(max(near + 1, low), high - 1)


@compiled
def _sample_row(upper, lower, down, left, right, columns, x0, x1, blended, pixels):
    """Interpolate pixels x0 to x1 of a row; two rows of the source first become one.

    Whole numbers of 8 bits and twice `WEIGHT_BITS`: the sum is exact, and rounded once, half up.
    """
    unit, half = 2**WEIGHT_BITS, 2 ** (2 * WEIGHT_BITS - 1)
    for x in range(left, right):
        for c in range(3):
            blended[x, c] = upper[x, c] * (unit - down) + lower[x, c] * down
    for x in range(x0, x1):
        first, second, part = columns[0, x], columns[1, x], columns[2, x]
        for c in range(3):
            total = blended[first, c] * (unit - part) + blended[second, c] * part + half
            pixels[c, x] = total >> (2 * WEIGHT_BITS)


@compiled
def _store_row(pixels, color, out, y, x0, x1):
    """Shift hue, scale saturation and value of pixels x0 to x1 of a row, into uint8 `out`.

    All of it is float32 and without a jump, so that the compiler can use vectors.
    """
    zero, half, one, two = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
    three, four, six, top = np.float32(3), np.float32(4), np.float32(6), np.float32(255)
    turn, richer, brighter = six * color[0], color[1], color[2]
    reds, greens, blues = pixels[0, x0:x1], pixels[1, x0:x1], pixels[2, x0:x1]
    out_reds, out_greens, out_blues = out[0, y, x0:x1], out[1, y, x0:x1], out[2, y, x0:x1]
    for x in range(len(reds)):
        red, green, blue = reds[x], greens[x], blues[x]
        value = max(red, green, blue)
        chroma = value - min(red, green, blue)
        # Both are whole numbers, so 1 replaces nothing but 0, and then hue and saturation are 0.
        divisor = max(chroma, one)
        if value == red:
            hue = (green - blue) / divisor
        elif value == green:
            hue = (blue - red) / divisor + two
        else:
            hue = (red - green) / divisor + four
        hue += turn
        hue -= six * np.floor(hue / six)
        saturation = min(chroma / max(value, one) * richer, one)
        value = min(value * brighter, top)
        red = min(max(abs(hue - three) - one, zero), one)
        green = min(max(two - abs(hue - two), zero), one)
        blue = min(max(two - abs(hue - four), zero), one)
        out_reds[x] = np.uint8(value * (one - saturation * (one - red)) + half)
        out_greens[x] = np.uint8(value * (one - saturation * (one - green)) + half)
        out_blues[x] = np.uint8(value * (one - saturation * (one - blue)) + half)


@compiled
def _copy_row(pixels, out, y, x0, x1):
    for c in range(3):
        for x in range(x0, x1):
            out[c, y, x] = np.uint8(pixels[c, x])


@compiled
def _render(source, window, affine, content, color, squares, out):
    size = squares.shape[1]
    columns = np.empty((3, size), np.int32)
    rows = np.empty((3, size), np.int32)
    blended = np.empty((size, 3), np.int32)
    pixels = np.empty((3, size), np.float32)
    for n in range(len(source)):
        colored = color[n, 0] != 0 or color[n, 1] != 1 or color[n, 2] != 1
        pixels[:, 0] = FILL
        if colored:
            _store_row(pixels, color[n], out[n], 0, 0, 1)
        else:
            _copy_row(pixels, out[n], 0, 0, 1)
        # Grey stays grey.
        out[n] = out[n, 0, 0, 0]
        for layer in range(window.shape[1]):
            x0, y0, x1, y1 = window[n, layer]
            if x0 >= x1 or y0 >= y1:
                continue
            left, top, right, bottom = content[n, layer]
            ax, bx, ay, by = affine[n, layer]
            _neighbors(ax, bx, x1, left, right, columns[0], columns[1], columns[2])
            _neighbors(ay, by, y1, top, bottom, rows[0], rows[1], rows[2])
            picture = squares[source[n, layer]]
            for y in range(y0, y1):
                upper, lower = picture[rows[0, y]], picture[rows[1, y]]
                _sample_row(upper, lower, rows[2, y], left, right, columns, x0, x1, blended, pixels)
                if colored:
                    _store_row(pixels, color[n], out[n], y, x0, x1)
                else:
                    _copy_row(pixels, out[n], y, x0, x1)


def _check_plan(plan, count, size):
    """Refuse a plan for other squares, for compiled code checks no index."""
    batch, fields = len(plan.source), plan_fields(plan.source.shape[-1])
    for name, field, (shape, dtype) in zip(Plan._fields, plan, fields, strict=True):
        if field.shape != (batch, *shape) or field.dtype != dtype:
            raise ValueError(
                f"plan.{name} is {field.dtype} {field.shape}; it must be "
                f"{np.dtype(dtype)} {(batch, *shape)}"
            )
    used = (plan.window[..., :2] < plan.window[..., 2:]).all(axis=-1)
    source, window, content = plan.source[used], plan.window[used], plan.content[used]
    if (wrong := source[(source < 0) | (source >= count)]).size:
        raise ValueError(f"plan.source names image {wrong[0]}, but there are {count} squares")
    if ((window < 0) | (window > size)).any():
        raise ValueError(f"plan.window reaches beyond the {size} px of the squares")
    if (content < 0).any() or (content > size).any() or (content[:, :2] >= content[:, 2:]).any():
        raise ValueError(f"plan.content does not fit the {size} px of the squares")


def render(plan, squares, out=None):
    """Draw planned images on the host.

    Bilinear sampling, rounded half up to 8 bits; then the colour step on those whole values, in
    float32, rounded half up again. Colours follow the hexcone model (HSV). Hue isn't rounded, on
    purpose, though OpenCV, with which the published weights were trained, has 180 levels of it.

    `plan` is of B images, see `stack_plans`; `squares`, uint8 (N, S, S, 3), are the letterboxed
    pictures of the data set, in memory or mapped from a file. The images, uint8 (B, 3, S, S), are
    returned, in `out` if it is given. ValueError if an array has another dtype or shape, isn't
    contiguous, or if the plan names pixels that aren't there.
    """
    count, size = (*squares.shape, 0, 0)[:2]
    fits = squares.dtype == np.uint8 and squares.shape == (count, size, size, 3)
    if not fits or not squares.flags.c_contiguous:
        raise ValueError(
            f"squares is {squares.dtype} {squares.shape}; pass C-contiguous uint8 (N, S, S, 3)"
        )
    _check_plan(plan, count, size)
    shape = (len(plan.source), 3, size, size)
    if out is None:
        out = np.empty(shape, np.uint8)
    elif out.dtype != np.uint8 or out.shape != shape or not out.flags.c_contiguous:
        raise ValueError(f"out is {out.dtype} {out.shape}; pass C-contiguous uint8 {shape}")
    # Maps of files are read-only: with one kind of array the code is compiled once.
    squares = np.asarray(squares).view()
    squares.flags.writeable = False
    _render(*plan, squares, out)
    return out


# ------------------------------------------------------------------------------ on the device


def plan_variables(batch_size, pasted=0):
    """Return a plan of variables, with the dtypes and static shapes that `stack_plans` gives."""
    return Plan(
        *(
            pt.tensor(name, dtype=np.dtype(dtype).name, shape=(batch_size, *shape))
            for name, (shape, dtype) in zip(Plan._fields, plan_fields(LAYERS + pasted), strict=True)
        )
    )


def _units(number):
    """Convert float32 positions to int32 multiples of ``2**-POSITION_BITS``, modulo 2**32.

    A position far from the picture may wrap around: it is only a term of a sum that lies near the
    picture, and that sum fits.
    """
    units = 2**POSITION_BITS
    # Towards zero: above the floor of a small negative number, its part would lose digits.
    whole = number.astype("int32")
    part = (number - whole.astype("float32")) * np.float32(units)
    return whole * units + pt.round(part, mode="half_to_even").astype("int32")


def _neighbor_tables(slope, start, low, high, size):
    """Compute `_neighbors` for (B, L) variables: first, second, weight, int32 (B, L, size)."""
    drop = 2 ** (POSITION_BITS - WEIGHT_BITS)
    step = _units(slope)
    position = _units(start) + step // 2 + (drop - 2**POSITION_BITS) // 2
    x = np.arange(size, dtype=np.int32)
    near = (position[..., None] + step[..., None] * x) // drop
    weight = near % 2**WEIGHT_BITS
    near = near // 2**WEIGHT_BITS
    first, second = (pt.clip(k, low[..., None], high[..., None] - 1) for k in (near, near + 1))
    return first, second, weight


def _choose_layer(covers, tables, layers):
    """Take of every (B, L, ...) table the entries of the last layer that covers each pixel.

    It happens before anything is read from the squares: four pixels are read, not four per layer.
    """
    chosen = [table[:, 0] for table in tables]
    for layer in range(1, layers):
        chosen = [
            pt.switch(covers[:, layer], table[:, layer], before)
            for table, before in zip(tables, chosen, strict=True)
        ]
    return chosen


def _sample(squares, plan, size):
    """Return the pixels before the colour step, int32 (B, size, size, 3)."""
    x0, y0, x1, y1 = (plan.window[:, :, k, None] for k in range(4))
    left, top, right, bottom = (plan.content[:, :, k] for k in range(4))
    ax, bx, ay, by = (plan.affine[:, :, k] for k in range(4))
    pixel = np.arange(size, dtype=np.int32)
    in_columns = (pixel >= x0) & (pixel < x1)
    in_rows = (pixel >= y0) & (pixel < y1)
    covers = in_rows[..., None] & in_columns[:, :, None]
    columns = (table[:, :, None] for table in _neighbor_tables(ax, bx, left, right, size))
    rows = (table[..., None] for table in _neighbor_tables(ay, by, top, bottom, size))
    source, upper, lower, down, first, second, across = _choose_layer(
        covers, [plan.source[:, :, None, None], *rows, *columns], plan.source.type.shape[1]
    )
    corners = [
        [squares[source, row, column].astype("int32") for column in (first, second)]
        for row in (upper, lower)
    ]
    unit = 2**WEIGHT_BITS
    down, across = down[..., None], across[..., None]
    above, below = (one * (unit - across) + other * across for one, other in corners)
    total = above * (unit - down) + below * down
    # A whole number of 8 bits and twice WEIGHT_BITS, rounded half up.
    rounded = (total + unit**2 // 2) // unit**2
    return pt.switch(covers.any(axis=1)[..., None], rounded, np.int32(FILL))


def _change_colors(red, green, blue, color):
    """Apply the colour step of `render` to float32 (B, S, S) planes of whole numbers."""
    zero, half, one, two = (np.float32(k) for k in (0, 0.5, 1, 2))
    three, four, six, top = (np.float32(k) for k in (3, 4, 6, 255))
    shift, richer, brighter = (color[:, k, None, None] for k in range(3))
    value = pt.maximum(red, pt.maximum(green, blue))
    chroma = value - pt.minimum(red, pt.minimum(green, blue))
    divisor = pt.maximum(chroma, one)
    hue = pt.switch(
        pt.eq(value, red),
        (green - blue) / divisor,
        pt.switch(
            pt.eq(value, green), (blue - red) / divisor + two, (red - green) / divisor + four
        ),
    )
    hue = hue + six * shift
    hue = hue - six * pt.floor(hue / six)
    saturation = pt.minimum(chroma / pt.maximum(value, one) * richer, one)
    value = pt.minimum(value * brighter, top)
    parts = (abs(hue - three) - one, two - abs(hue - two), two - abs(hue - four))
    return [
        pt.floor(value * (one - saturation * (one - pt.clip(part, zero, one))) + half)
        for part in parts
    ]


def render_graph(squares, plan, image_size):
    """Draw planned images, as a graph.

    The arithmetic is that of `render`: whole numbers up to the colour step, float32 in
    it. Nothing here is differentiated: plans and squares depend on no parameter.

    `squares` are the letterboxed pictures, uint8 (N, S, S, 3), usually a shared variable; they are
    read by image, row and column, so their size is not limited to 2**31 bytes. `plan` is of
    variables, see `plan_variables`; its numbers are not checked here.

    Returns
    -------
    float32 variable, (B, 3, S, S)
        From 0 to 1.
    """
    pixels = _sample(squares, plan, image_size).astype("float32")
    planes = _change_colors(*(pixels[..., c] for c in range(3)), plan.color)
    return pt.stack(planes, axis=1) / np.float32(255)
