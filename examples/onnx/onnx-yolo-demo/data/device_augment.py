"""Drawing planned images where the training runs, as a PyTensor graph.

The stored squares stay on the device; a batch costs the host its plan, and the transfer a few
hundred bytes an image. `augment.render` draws the same on the host.
"""

import numpy as np
from data.augment import LAYERS, PLAN_FIELDS, POSITION_BITS, WEIGHT_BITS, Plan
from data.images import FILL

import pytensor.tensor as pt


def plan_variables(batch_size):
    """Symbolic inputs for the plan of a batch.

    Parameters
    ----------
    batch_size : int

    Returns
    -------
    Plan
        Variables with the dtypes and static shapes that `augment.stack_plans` gives.
    """
    return Plan(
        *(
            pt.tensor(name, dtype=np.dtype(dtype).name, shape=(batch_size, *shape))
            for name, (shape, dtype) in zip(Plan._fields, PLAN_FIELDS, strict=True)
        )
    )


def _units(number):
    """Float32 positions as int32 multiples of ``2**-POSITION_BITS``, modulo 2**32.

    The sums they enter are positions near the picture, which fit.
    """
    units = 2**POSITION_BITS
    whole = pt.floor(number)
    part = pt.round((number - whole) * np.float32(units), mode="half_to_even")
    return whole.astype("int32") * units + part.astype("int32")


def _neighbors(slope, start, low, high, size):
    """Where output pixels lie along one axis of the stored squares.

    Parameters
    ----------
    slope, start : float32 (B, 4)
    low, high : int32 (B, 4)
    size : int

    Returns
    -------
    first, second, weight : int32 (B, 4, size)
        As `augment.render` takes them: neighbours, and the second one's weight in units of
        ``2**-WEIGHT_BITS``.
    """
    drop = 2 ** (POSITION_BITS - WEIGHT_BITS)
    step = _units(slope)
    position = _units(start) + step // 2 + (drop - 2**POSITION_BITS) // 2
    x = np.arange(size, dtype=np.int32)
    near = (position[..., None] + step[..., None] * x) // drop
    weight = near % 2**WEIGHT_BITS
    near = near // 2**WEIGHT_BITS
    first, second = (pt.clip(k, low[..., None], high[..., None] - 1) for k in (near, near + 1))
    return first, second, weight


def _choose_layer(covers, tables):
    """Of every (B, 4, ...) table the entries of the last layer that covers each pixel.

    Chosen before anything is read from the squares, so four pixels are read, not sixteen.
    """
    chosen = [table[:, 0] for table in tables]
    for layer in range(1, LAYERS):
        chosen = [
            pt.switch(covers[:, layer], table[:, layer], before)
            for table, before in zip(tables, chosen, strict=True)
        ]
    return chosen


def _sample(squares, plan, size):
    """Pixels before the colour step, int32 (B, size, size, 3)."""
    x0, y0, x1, y1 = (plan.window[:, :, k, None] for k in range(4))
    left, top, right, bottom = (plan.content[:, :, k] for k in range(4))
    ax, bx, ay, by = (plan.affine[:, :, k] for k in range(4))
    pixel = np.arange(size, dtype=np.int32)
    in_columns = (pixel >= x0) & (pixel < x1)
    in_rows = (pixel >= y0) & (pixel < y1)
    covers = in_rows[..., None] & in_columns[:, :, None]
    columns = (table[:, :, None] for table in _neighbors(ax, bx, left, right, size))
    rows = (table[..., None] for table in _neighbors(ay, by, top, bottom, size))
    source, upper, lower, down, first, second, across = _choose_layer(
        covers, [plan.source[:, :, None, None], *rows, *columns]
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
    """The colour step of `augment.render` on float32 (B, S, S) planes of whole numbers."""
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

    The arithmetic is that of `augment.render`: whole numbers up to the colour step, float32 in
    it. Nothing here is differentiated: plans and squares depend on no parameter.

    Parameters
    ----------
    squares : uint8 variable, (N, S, S, 3)
        The letterboxed pictures of the data set; usually a shared variable. It is read by
        image, row and column, so its size is not limited to 2**31 bytes.
    plan : Plan
        Of variables; see `plan_variables`. Its numbers are not checked here.
    image_size : int
        S.

    Returns
    -------
    float32 variable, (B, 3, S, S)
        From 0 to 1.

    Raises
    ------
    TypeError
        `squares` is not a uint8 variable with four axes.
    """
    if squares.dtype != "uint8" or squares.ndim != 4:
        raise TypeError(f"squares is {squares.type}; it must be uint8 (N, S, S, 3)")
    pixels = _sample(squares, plan, image_size).astype("float32")
    planes = _change_colors(*(pixels[..., c] for c in range(3)), plan.color)
    return pt.stack(planes, axis=1) / np.float32(255)
