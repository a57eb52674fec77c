import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.vjp import jax_pullback
from pytensor.tensor.pool.adaptive import AdaptivePool, adaptive_bins
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad
from pytensor.tensor.pool.windows import counts

# Windows are reduced axis by axis, each by a few shifted slices of which XLA makes one loop.  That
# takes a fraction of the time of `lax.reduce_window` and its gradient, which visit every cell of
# every window one by one.  The barriers keep XLA from merging the axes, for then it computes the
# windows of one axis anew for each window of the other.
# thoughts/upstream/xla-cpu-depthwise.md


class AxisWindows:
    """The windows along pooled axis `i` of an array with a known shape."""

    def __init__(self, op, i, shape, windows):
        self.axis = len(shape) - len(op.ws) + i
        self.length = shape[self.axis]
        self.windows = windows
        self.stride = op.stride[i]
        self.offsets = range(0, op.extents[i], op.dilation[i])
        self.reach = (windows - 1) * self.stride + 1
        self.before = op.pad[i][0]
        self.after = max(self.reach - 1 + op.extents[i] - self.length - self.before, 0)

    def pad(self, x, fill):
        pads = [(0, 0, 0)] * x.ndim
        pads[self.axis] = (self.before, self.after, 0)
        return lax.pad(x, np.asarray(fill, x.dtype), pads)

    def taps(self, padded):
        """List what the first, the second, ... cell of each window is."""
        return [
            lax.slice_in_dim(padded, o, o + self.reach, self.stride, self.axis)
            for o in self.offsets
        ]

    def add_taps(self, parts):
        """Return what each cell of the image gets from the windows it is in: `taps` transposed."""
        total = None
        for offset, part in zip(self.offsets, parts, strict=True):
            start = offset - self.before
            pads = [(0, 0, 0)] * part.ndim
            pads[self.axis] = (start, self.length - start - self.reach, self.stride - 1)
            part = lax.pad(part, np.zeros((), part.dtype), pads)
            total = part if total is None else total + part
        return lax.optimization_barrier(total)


def axes_last_first(op, shape):
    n = len(op.ws)
    windows = op.output_spatial_shape(shape[-n:])
    return [AxisWindows(op, i, shape, windows[i]) for i in reversed(range(n))]


def lowest(dtype):
    return -np.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def fold_maxima(axis, x, companions=None):
    """Return maxima along one axis, and the entries at their places among `companions`."""
    out, *others = axis.taps(axis.pad(x, lowest(x.dtype)))
    entry = None if companions is None else companions[0]
    for tap, new in enumerate(others, start=1):
        keep = (out >= new) | (out != out)
        out = jnp.where(keep, out, new)
        if companions is not None:
            entry = jnp.where(keep, entry, companions[tap])
    return lax.optimization_barrier(out if companions is None else (out, entry))


def default_int():
    # int64 where 64-bit types are enabled; asking for it elsewhere only warns
    return jax.dtypes.canonicalize_dtype("int64")


def accumulated(x):
    return x.astype("float32") if x.dtype == "float16" else x


def divisors(op, axes):
    """Return numbers of cells that averages are over, in the shape of the pooled axes."""
    product = np.ones((1,) * len(op.ws))
    for i, axis in enumerate(reversed(axes)):
        number = counts(
            axis.length,
            axis.windows,
            op.ws[i],
            op.stride[i],
            op.pad[i],
            op.dilation[i],
            include_pad=op.mode == "average_inc_pad",
        )
        product = product * number.reshape([-1 if a == i else 1 for a in range(len(op.ws))])
    return product


@jax_funcify.register(Pool)
def jax_funcify_Pool(op, **kwargs):
    def max_pool(x):
        for axis in axes_last_first(op, x.shape):
            x = fold_maxima(axis, x)
        return x

    def sum_pool(x):
        axes = axes_last_first(op, x.shape)
        out = accumulated(x)
        for axis in axes:
            out = lax.optimization_barrier(sum(axis.taps(axis.pad(out, 0))))
        if op.mode != "sum":
            out = out / divisors(op, axes).astype(out.dtype)
        # of narrow integers, JAX makes the sum wider
        return out.astype(x.dtype)

    return max_pool if op.mode == "max" else sum_pool


@jax_pullback.register(Pool)
def jax_pullback_Pool(op, **kwargs):
    def max_pool_pullback(x, cotangent):
        axes = axes_last_first(op, x.shape)
        winners = []
        for axis in axes:
            narrow = len(axis.offsets) < 128
            taps = np.arange(len(axis.offsets), dtype="int8" if narrow else "int32")
            x, winner = fold_maxima(axis, x, list(taps))
            winners.append(jnp.broadcast_to(winner, x.shape))
        for axis, winner in zip(reversed(axes), reversed(winners), strict=True):
            cotangent = axis.add_taps(
                [jnp.where(winner == tap, cotangent, 0) for tap in range(len(axis.offsets))]
            )
        return cotangent

    def sum_pool_pullback(x, cotangent):
        axes = axes_last_first(op, x.shape)
        cotangent = accumulated(cotangent)
        if op.mode != "sum":
            cotangent = cotangent / divisors(op, axes).astype(cotangent.dtype)
        for axis in reversed(axes):
            cotangent = axis.add_taps([cotangent] * len(axis.offsets))
        return cotangent.astype(x.dtype)

    return max_pool_pullback if op.mode == "max" else sum_pool_pullback


@jax_funcify.register(GatherAtMaxima)
def jax_funcify_GatherAtMaxima(op, **kwargs):
    if not isinstance(op.op, Pool):
        forward = jax_funcify(op.op, **kwargs)

        def derivative(x, values):
            return jax.jvp(forward, (x,), (values,))[1]

        return derivative

    def gather_at_maxima(x, values):
        for axis in axes_last_first(op.op, x.shape):
            x, values = fold_maxima(axis, x, axis.taps(axis.pad(values, 0)))
        return values

    return gather_at_maxima


@jax_funcify.register(PoolWithIndices)
def jax_funcify_PoolWithIndices(op, **kwargs):
    pool = op.op

    def positions(shape):
        return np.arange(np.prod(shape), dtype=default_int()).reshape(shape)

    def max_pool_with_indices(x):
        n = len(pool.ws)
        indices = jnp.broadcast_to(positions(x.shape[-n:]), x.shape)
        for i, axis in zip(reversed(range(n)), axes_last_first(pool, x.shape), strict=True):
            # Padding stands for the first cell of the image in the same window.
            cells = np.arange(-axis.before, axis.length + axis.after)
            cells = np.where(cells < 0, cells % pool.dilation[i], cells)
            cells = np.minimum(cells, axis.length - 1)
            x, indices = fold_maxima(axis, x, axis.taps(jnp.take(indices, cells, axis=axis.axis)))
        return x, indices

    def adaptive_pool_with_indices(x):
        shape = x.shape[-len(pool.output_size) :]
        return adaptive_maxima(pool, x, jnp.broadcast_to(positions(shape), x.shape))

    return max_pool_with_indices if isinstance(pool, Pool) else adaptive_pool_with_indices


@jax_funcify.register(LpPool)
def jax_funcify_LpPool(op, **kwargs):
    def lp_pool(x):
        out = jnp.abs(accumulated(x))
        for axis in axes_last_first(op, x.shape):
            taps = axis.taps(axis.pad(out, 0))
            out = taps[0]
            if len(taps) > 1:
                out = norm_of_taps(taps, np.asarray(op.norm_type, out.dtype))
        return out.astype(x.dtype)

    return lp_pool


def norm_of_taps(taps, p):
    """Compute `norm_of_terms` of the Op, with its gradient of 0 where terms are 0."""
    largest = taps[0]
    for tap in taps[1:]:
        largest = jnp.maximum(largest, tap)
    largest = lax.stop_gradient(largest)
    scale = jnp.where((largest > 0) & (largest != np.inf), largest, 1)
    total = 0
    for tap in taps:
        power = jnp.where(tap == 0, 1, tap / scale) ** p
        total = total + jnp.where(tap == 0, 0, power)
    root = jnp.where(total == 0, 1, total) ** (1 / p)
    return jnp.where(total == 0, 0, scale * root)


def adaptive_windows(x, axis, windows):
    """Split an axis into windows and their cells; also which are inside, and their number."""
    length = x.shape[axis]
    if length % windows == 0:
        shape = (*x.shape[:axis], windows, length // windows, *x.shape[axis + 1 :])
        return x.reshape(shape), None, length // windows
    first, end = adaptive_bins(length, windows)
    cells = first[:, None] + np.arange((end - first).max())
    shape = [-1] + [1] * (x.ndim - 1 - axis)
    inside = (cells < end[:, None]).reshape(-1, cells.shape[1], *shape[1:])
    x = jnp.take(x, np.minimum(cells, end[:, None] - 1), axis=axis)
    return x, inside, (end - first).reshape(shape)


def adaptive_axes(op, ndim):
    """Return the axes that are pooled, the last first, and the numbers of windows."""
    first = ndim - len(op.output_size)
    axes = [(axis, m) for axis, m in enumerate(op.output_size, start=first) if m is not None]
    return axes[::-1]


def adaptive_maxima(op, x, indices=None):
    for axis, m in adaptive_axes(op, x.ndim):
        cells, _, _ = adaptive_windows(x, axis, m)
        winner = jnp.argmax(cells, axis=axis + 1, keepdims=True)
        x = jnp.take_along_axis(cells, winner, axis=axis + 1).squeeze(axis + 1)
        if indices is not None:
            cells, _, _ = adaptive_windows(indices, axis, m)
            indices = jnp.take_along_axis(cells, winner, axis=axis + 1).squeeze(axis + 1)
    return x if indices is None else (x, indices)


@jax_funcify.register(AdaptivePool)
def jax_funcify_AdaptivePool(op, **kwargs):
    def adaptive_max_pool(x):
        return adaptive_maxima(op, x)

    def adaptive_average_pool(x):
        out = accumulated(x)
        for axis, m in adaptive_axes(op, x.ndim):
            cells, inside, number = adaptive_windows(out, axis, m)
            if inside is not None:
                cells = jnp.where(inside, cells, 0)
            out = cells.sum(axis=axis + 1) / np.asarray(number, out.dtype)
        return out.astype(x.dtype)

    return adaptive_max_pool if op.mode == "max" else adaptive_average_pool


def as_rows(x, n):
    return x.reshape(int(np.prod(x.shape[: x.ndim - n])), int(np.prod(x.shape[x.ndim - n :])))


def last_writer(indices, n_cells):
    """Return which entry of each row of `indices` stays at each cell; -1 for none."""
    rows = np.arange(indices.shape[0])[:, None]
    number = np.arange(indices.shape[1], dtype=indices.dtype)[None]
    return jnp.full((indices.shape[0], n_cells), -1, indices.dtype).at[rows, indices].max(number)


@jax_funcify.register(MaxUnpool)
def jax_funcify_MaxUnpool(op, **kwargs):
    n = len(op.lengths)

    def max_unpool(x, indices, *unknown):
        lengths = [int(length) for length in op.all_lengths(unknown)]
        entries, positions = as_rows(x, n), as_rows(indices, n)
        # Of a scatter with equal indices, XLA doesn't say which one stays.
        writer = last_writer(positions, int(np.prod(lengths)))
        cells = jnp.take_along_axis(entries, jnp.maximum(writer, 0), axis=1)
        return jnp.where(writer < 0, 0, cells).reshape(*x.shape[:-n], *lengths)

    return max_unpool


@jax_funcify.register(MaxUnpoolGrad)
def jax_funcify_MaxUnpoolGrad(op, **kwargs):
    n = len(op.lengths)

    def max_unpool_grad(cotangent, indices, *unknown):
        cells, positions = as_rows(cotangent, n), as_rows(indices, n)
        writer = jnp.take_along_axis(last_writer(positions, cells.shape[1]), positions, axis=1)
        stays = writer == np.arange(positions.shape[1])
        entries = jnp.where(stays, jnp.take_along_axis(cells, positions, axis=1), 0)
        return entries.reshape(indices.shape)

    return max_unpool_grad
