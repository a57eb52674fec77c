import torch
import torch.nn.functional as F

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices

# Windows are reduced axis by axis, each by a few shifted slices, of which torch.compile makes one
# kernel.  PyTorch's own functions know neither padding of one end nor dilated averages.


class AxisWindows:
    """The windows along pooled axis `i` of a tensor."""

    def __init__(self, op, i, shape, windows):
        self.axis = len(shape) - len(op.ws) + i
        self.length = shape[self.axis]
        self.stride = op.stride[i]
        self.dilation = op.dilation[i]
        self.offsets = range(0, op.extents[i], op.dilation[i])
        self.reach = (windows - 1) * self.stride + 1
        self.before, self.padded_after = op.pad[i]
        self.after = max(self.reach - 1 + op.extents[i] - self.length - self.before, 0)

    def taps(self, x, fill):
        """List what the first, the second, ... cell of each window is."""
        pads = [0, 0] * (x.ndim - 1 - self.axis) + [self.before, self.after]
        return self.shifted(F.pad(x, pads, value=fill), self.axis)

    def shifted(self, padded, axis):
        index = (slice(None),) * axis
        return [padded[(*index, slice(o, o + self.reach, self.stride))] for o in self.offsets]

    def cells(self, x):
        """Return positions of padded cells in the image: negative, or past its end, in padding."""
        return torch.arange(-self.before, self.length + self.after, device=x.device)

    def counts(self, x, include_pad):
        """Count the cells that each window's average is over."""
        cells = self.cells(x)
        inside = cells < self.length + (self.padded_after if include_pad else 0)
        if not include_pad:
            inside = inside & (cells >= 0)
        shape = [-1 if axis == self.axis else 1 for axis in range(x.ndim)]
        return sum(self.shifted(inside.to(x.dtype), 0)).reshape(shape)


def axes_last_first(op, x):
    n = len(op.ws)
    windows = op.output_spatial_shape(x.shape[-n:])
    return [AxisWindows(op, i, x.shape, windows[i]) for i in reversed(range(n))]


def lowest(dtype):
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def largest(taps, entries=None):
    """Return the maxima of taps, and the entries that belong to them."""
    out, *others = taps
    entry, *other_entries = taps if entries is None else entries
    for new, new_entry in zip(others, other_entries, strict=True):
        # the first of equals, or NaN
        keep = (out >= new) | (out != out)
        out, entry = torch.where(keep, out, new), torch.where(keep, entry, new_entry)
    return out, entry


def accumulated(x):
    return x.float() if x.dtype == torch.float16 else x


@pytorch_funcify.register(Pool)
def pytorch_funcify_Pool(op, **kwargs):
    def max_pool(x):
        for axis in axes_last_first(op, x):
            x, _ = largest(axis.taps(x, lowest(x.dtype)))
        return x

    def sum_pool(x):
        axes = axes_last_first(op, x)
        out, divisor = accumulated(x), 1
        for axis in axes:
            if op.mode != "sum":
                divisor = divisor * axis.counts(out, op.mode == "average_inc_pad")
            out = sum(axis.taps(out, 0))
        return (out if op.mode == "sum" else out / divisor).to(x.dtype)

    return max_pool if op.mode == "max" else sum_pool


@pytorch_funcify.register(LpPool)
def pytorch_funcify_LpPool(op, **kwargs):
    def lp_pool(x):
        out = accumulated(x).abs()
        for axis in axes_last_first(op, x):
            taps = axis.taps(out, 0)
            out = taps[0] if len(taps) == 1 else norm_of_taps(taps, op.norm_type)
        return out.to(x.dtype)

    return lp_pool


def norm_of_taps(taps, p):
    """Compute `norm_of_terms` of the Op, with its gradient of 0 where terms are 0."""
    scale, _ = largest([tap.detach() for tap in taps])
    scale = torch.where((scale > 0) & (scale != float("inf")), scale, 1)
    total = 0
    for tap in taps:
        power = torch.where(tap == 0, 1, tap / scale) ** p
        total = total + torch.where(tap == 0, 0, power)
    root = torch.where(total == 0, 1, total) ** (1 / p)
    return torch.where(total == 0, 0, scale * root)


def adaptive_windows(x, axis, windows):
    """Split an axis into windows and their cells; also which are inside, and their number.

    The last cell of a window stands for those that aren't inside.
    """
    length = x.shape[axis]
    i = torch.arange(windows, device=x.device)
    first, end = i * length // windows, ((i + 1) * length + (windows - 1)) // windows
    most = 1 if windows == length else (length + windows - 1) // windows + 1
    cells = first[:, None] + torch.arange(most, device=x.device)
    positions = torch.minimum(cells, end[:, None] - 1)
    x = x.index_select(axis, positions.flatten()).unflatten(axis, (windows, most))
    after = [1] * (x.ndim - 2 - axis)
    inside = (cells < end[:, None]).reshape(windows, most, *after)
    return x, inside, (end - first).reshape(windows, *after)


def adaptive_axes(op, ndim):
    """Return the axes that are pooled, the last first, and the numbers of windows."""
    first = ndim - len(op.output_size)
    axes = [(axis, m) for axis, m in enumerate(op.output_size, start=first) if m is not None]
    return axes[::-1]


def adaptive_maxima(op, x, entries=None):
    for axis, m in adaptive_axes(op, x.ndim):
        cells, _, _ = adaptive_windows(x, axis, m)
        x, winner = cells.max(dim=axis + 1)
        if entries is not None:
            entries, _, _ = adaptive_windows(entries, axis, m)
            entries = entries.gather(axis + 1, winner.unsqueeze(axis + 1)).squeeze(axis + 1)
    return x, entries


@pytorch_funcify.register(AdaptivePool)
def pytorch_funcify_AdaptivePool(op, **kwargs):
    def adaptive_max_pool(x):
        return adaptive_maxima(op, x)[0]

    def adaptive_average_pool(x):
        out = accumulated(x)
        for axis, m in adaptive_axes(op, x.ndim):
            cells, inside, number = adaptive_windows(out, axis, m)
            out = torch.where(inside, cells, 0).sum(axis + 1) / number
        return out.to(x.dtype)

    return adaptive_max_pool if op.mode == "max" else adaptive_average_pool


@pytorch_funcify.register(GatherAtMaxima)
def pytorch_funcify_GatherAtMaxima(op, **kwargs):
    def gather_at_maxima(x, values):
        if isinstance(op.op, AdaptivePool):
            return adaptive_maxima(op.op, x, values)[1]
        for axis in axes_last_first(op.op, x):
            x, values = largest(axis.taps(x, lowest(x.dtype)), axis.taps(values, 0))
        return values

    return gather_at_maxima


@pytorch_funcify.register(PoolWithIndices)
def pytorch_funcify_PoolWithIndices(op, **kwargs):
    pool = op.op

    def positions(x, n):
        shape = x.shape[-n:]
        return torch.arange(shape.numel(), device=x.device).reshape(shape).expand(x.shape)

    def max_pool_with_indices(x):
        indices = positions(x, len(pool.ws))
        for axis in axes_last_first(pool, x):
            # Padding stands for the first cell of the image in the same window.
            cells = axis.cells(x)
            cells = torch.where(cells < 0, cells % axis.dilation, cells)
            cells = cells.clamp(max=axis.length - 1)
            entries = axis.shifted(indices.index_select(axis.axis, cells), axis.axis)
            x, indices = largest(axis.taps(x, lowest(x.dtype)), entries)
        return x, indices

    def adaptive_pool_with_indices(x):
        return adaptive_maxima(pool, x, positions(x, len(pool.output_size)))

    return adaptive_pool_with_indices if isinstance(pool, AdaptivePool) else max_pool_with_indices
