"""What the property tests draw: arrays with special values, and indices for a shape."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)


def shapes(min_dims=0, max_dims=4, min_side=0, max_side=4):
    """Draw shapes in which 0 and 1 occur, and lengths mostly differ along the axes."""
    return hnp.array_shapes(
        min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )


def elements(dtype, *, special=True):
    """Draw values of a dtype; with `special` NaN, infinities, -0.0 and extremes too."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = st.integers(max(-9, info.min), 9)
        if not special:
            return small
        # Beyond these a float32 or a float64 skips integers.
        edges = [v for v in (2**24 + 1, 2**53 + 1, info.max, info.min) if v <= info.max]
        return small | st.sampled_from(edges) | st.integers(info.min, info.max)
    quarters = st.integers(-40, 40).map(lambda number: number / 4)
    if not special:
        return quarters
    info = np.finfo(dtype)
    edges = [np.nan, np.inf, -np.inf, -0.0, float(info.max), float(info.min), float(info.tiny)]
    return quarters | st.sampled_from(edges)


def arrays(dtype, shape, *, special=True):
    """Draw arrays of a dtype and a shape, either of which may be a strategy."""
    if isinstance(dtype, st.SearchStrategy):
        return dtype.flatmap(lambda name: arrays(name, shape, special=special))
    return hnp.arrays(dtype, shape, elements=elements(dtype, special=special), fill=st.nothing())


def slices(length):
    """Draw slices of an axis, with bounds on both sides of its ends."""
    bound = st.none() | st.integers(-length - 2, length + 2)
    step = st.none() | st.sampled_from([1, -1, 2, -2, 3, -3, length + 1, -length - 1])
    return st.builds(slice, bound, bound, step)


@st.composite
def integer_arrays(draw, length, shape):
    """Draw positions along an axis, as an array of any integer dtype."""
    dtype = draw(st.sampled_from(INTEGERS))
    if not length:
        return np.zeros(shape, dtype)
    low = 0 if dtype.startswith("u") else -length
    return draw(hnp.arrays(dtype, shape, elements=st.integers(low, length - 1), fill=st.nothing()))


@st.composite
def masks(draw, shape, count):
    """Draw masks of a shape that select `count` elements."""
    mask = np.zeros(int(np.prod(shape)), bool)
    mask[draw(st.permutations(range(mask.size)))[:count]] = True
    return mask.reshape(shape)


@st.composite
def basic_indices(draw, shape):
    """Draw index tuples of slices, integers, None and at most one Ellipsis."""
    entries = []
    for length in shape:
        scalars = [st.integers(-length, length - 1)] * (length > 0)
        entries.append(draw(st.one_of(slices(length), *scalars)))
    return _abbreviated(draw, entries)


@st.composite
def indices(draw, shape):
    """Draw index tuples of all kinds that NumPy knows, but for booleans outside of arrays."""
    common = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    entries, axis = [], 0
    while axis < len(shape):
        length = shape[axis]
        kinds = ["slice", "full"]
        own = _broadcastable(draw, common)
        if length or 0 in own:
            kinds += ["array", "array"]
        kinds += ["integer"] * (length > 0)
        width = draw(st.integers(1, len(shape) - axis))
        size = int(np.prod(shape[axis : axis + width]))
        counts = {1, *common[-1:]} if common else {1}
        counts = [count for count in sorted(counts) if count <= size]
        kinds += ["mask"] * bool(counts)
        kind = draw(st.sampled_from(kinds))
        if kind == "mask":
            count = draw(st.sampled_from(counts))
            entries.append(draw(masks(shape[axis : axis + width], count)))
            axis += width
            continue
        axis += 1
        if kind == "array":
            entries.append(draw(integer_arrays(length, own)))
        elif kind == "integer":
            entries.append(draw(st.integers(-length, length - 1)))
        else:
            entries.append(slice(None) if kind == "full" else draw(slices(length)))
    return _abbreviated(draw, entries)


def _broadcastable(draw, shape):
    """Draw part of a shape, from some axis on, with some sizes replaced by 1."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(1 if draw(st.booleans()) else size for size in kept)


@st.composite
def broadcastable(draw, shape):
    """Draw shapes that broadcast to `shape`."""
    return _broadcastable(draw, shape)


def _abbreviated(draw, entries):
    """Leave out entries, at the end or for an Ellipsis, and put in None."""
    start = draw(st.integers(0, len(entries)))
    if draw(st.booleans()):
        stop = draw(st.integers(start, len(entries)))
        entries = [*entries[:start], Ellipsis, *entries[stop:]]
    elif draw(st.booleans()):
        entries = entries[:start]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        entries.insert(draw(st.integers(0, len(entries))), None)
    return tuple(entries)


@st.composite
def tensors(draw, dtypes, *, min_side=0, min_dims=0, max_dims=3, elements=None):
    """Draw a variable, with static or symbolic sizes, and a value for it."""
    dtype = draw(st.sampled_from(dtypes))
    value = draw(
        hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=4),
            elements=elements(dtype) if elements else None,
        )
    )
    shape = draw(st.sampled_from([value.shape, (None,) * value.ndim]))
    return pt.tensor("x", dtype=dtype, shape=shape), value


def few_values(dtype):
    """Draw one of few floats, so that some elements are equal, NaN or infinite."""
    return st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])


def small_floats(dtype):
    """Draw floats whose sums and products are exact in all orders, or infinite or NaN."""
    return st.sampled_from([0.0, -0.0, 1, -1, 0.5, -2, 4, np.inf, -np.inf, np.nan])


def tensors_with_ties(**limits):
    """Draw as `tensors` does, of any dtype, or of floats with `few_values`."""
    return tensors(FLOATS, elements=few_values, **limits) | tensors(DTYPES, **limits)


@st.composite
def axes_of(draw, ndim):
    """Draw some of the axes, or None for all."""
    if not ndim or draw(st.booleans()):
        return None
    return tuple(draw(st.sets(st.integers(0, ndim - 1))))
