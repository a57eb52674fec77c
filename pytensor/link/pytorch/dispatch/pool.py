import torch
import torch.nn.functional as F

from pytensor.graph.fg import FunctionGraph
from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.link.pytorch.dispatch.vjp import differentiated, of_node, pytorch_pullback
from pytensor.tensor.conv.lengths import cells_past_end
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.type import TensorType

# One axis is pooled by the functions of two, which have more arguments
MAX = {1: F.max_pool2d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE = {1: F.avg_pool2d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool2d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
ADAPTIVE_AVERAGE = {1: F.adaptive_avg_pool2d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}


def is_native(op, node):
    """Return whether PyTorch's functions compute a pooling of the node's first input."""
    if not node.inputs[0].type.dtype.startswith("float"):
        return False
    if isinstance(op, AdaptivePool):
        return len(op.output_size) <= 3
    return len(op.ws) <= 3 and (op.mode == "max" or set(op.dilation) == {1})


def for_known_lengths(op):
    """Return the function of an Op's inner graph, built for the lengths of what it is given.

    PyTensor's conversions take neither checks nor arithmetic of lengths.
    """

    @torch.compiler.disable
    def pooled(*arrays):
        types = [TensorType(str(a.dtype).removeprefix("torch."), tuple(a.shape)) for a in arrays]
        inputs = [t() for t in types]
        graph = FunctionGraph(inputs, op.build_inner_graph(*inputs), clone=False)
        outputs = pytorch_funcify(graph)(*arrays)
        return outputs[0] if len(outputs) == 1 else outputs

    return pooled


def as_images(x, n):
    """Return `x` with a batch, one channel, and two or three axes for its last `n`."""
    x = x.flatten(0, -n - 1) if x.ndim > n else x.unsqueeze(0)
    return x.unsqueeze(1) if n > 1 else x.unsqueeze(1).unsqueeze(2)


def of_two_axes(sizes, one=1):
    """Return what is said of one axis for two."""
    return (one, *sizes) if len(sizes) == 1 else tuple(sizes)


def like(out, x, n):
    """Return a result with the first axes of `x`."""
    return out.reshape(*x.shape[:-n], *out.shape[out.ndim - n :])


def padding(op, x):
    """Return cells (before, after) each pooled axis, with which all windows lie inside."""
    lengths = x.shape[-len(op.ws) :]
    windows = op.output_spatial_shape(lengths)
    axes = zip(lengths, windows, op.extents, op.stride, op.pad, strict=True)
    return [(pad[0], cells_past_end(n, m, e, s, pad)) for n, m, e, s, pad in axes]


def pad(x, pads, value):
    # F.pad takes the last axis first
    return F.pad(x, [n for pair in reversed(pads) for n in pair], value=value)


def maxima(op, x):
    """Return maxima, and their positions in the padded image."""
    n = len(op.ws)
    # Not PyTorch's padding: with only -inf, the padding before it is the maximum
    image = as_images(pad(x, padding(op, x), float("-inf")), n)
    sizes = [of_two_axes(v) for v in (op.ws, op.stride)]
    dilation = of_two_axes(op.dilation)
    return MAX[n](image, *sizes, dilation=dilation, return_indices=True)


def sums(op, x):
    n = len(op.ws)
    sizes = [of_two_axes(v) for v in (op.ws, op.stride)]
    return AVERAGE[n](as_images(x, n), *sizes, divisor_override=1)


def averages(op, x):
    n, pads = len(op.ws), padding(op, x)
    out = like(sums(op, pad(x, pads, 0)), x, n)
    if op.mode == "sum":
        return out
    counted = x.new_ones(x.shape[-n:])
    if op.mode == "average_inc_pad":
        counted = pad(counted, op.pad, 1)
        pads = [(0, after - pair[1]) for (_, after), pair in zip(pads, op.pad, strict=True)]
    return out / like(sums(op, pad(counted, pads, 0)), counted, n)


def adaptive_sizes(op, x):
    return op.output_lengths(x.shape[-len(op.output_size) :])


def adaptive_maxima(op, x):
    """Return maxima, and their positions in the image."""
    sizes = adaptive_sizes(op, x)
    images = as_images(x, len(sizes))
    return ADAPTIVE_MAX[len(sizes)](images, of_two_axes(sizes), return_indices=True)


def adaptive_averages(op, x):
    sizes = adaptive_sizes(op, x)
    out = ADAPTIVE_AVERAGE[len(sizes)](as_images(x, len(sizes)), of_two_axes(sizes))
    return like(out, x, len(sizes))


@pytorch_funcify.register(Pool)
@pytorch_funcify.register(AdaptivePool)
def pytorch_funcify_Pool(op, node, **kwargs):
    if not is_native(op, node):
        return for_known_lengths(op)
    adaptive = isinstance(op, AdaptivePool)

    def max_pool(x):
        n = len(op.output_size if adaptive else op.ws)
        return like((adaptive_maxima if adaptive else maxima)(op, x)[0], x, n)

    def average_pool(x):
        wide = x.float() if x.dtype == torch.float16 else x
        return (adaptive_averages if adaptive else averages)(op, wide).to(x.dtype)

    return max_pool if op.mode == "max" else average_pool


@pytorch_pullback.register(Pool)
@pytorch_pullback.register(AdaptivePool)
def pytorch_pullback_Pool(op, pullback, node, **kwargs):
    if not is_native(op, node):
        return for_known_lengths(pullback)
    return differentiated(op, pullback, node=node, **kwargs)


# Not the inner graph, for mode PYTORCH has no powers; nor PyTorch's, which overflow
@pytorch_funcify.register(LpPool)
def pytorch_funcify_LpPool(op, **kwargs):
    def lp_pool(x):
        out = pad((x.float() if x.dtype == torch.float16 else x).abs(), padding(op, x), 0)
        # A norm of norms over rows is the norm over rows and columns
        for i, (extent, stride) in enumerate(zip(op.extents, op.stride, strict=True)):
            axis = x.ndim - len(op.ws) + i
            cells = out.unfold(axis, extent, stride)[..., :: op.dilation[i]]
            out = norm(cells, op.norm_type)
        return out.to(x.dtype)

    return lp_pool


def norm(terms, p):
    """Return norms of the last axis, as `norm_of_terms`, with its gradient of 0 where terms are."""
    scale = terms.detach().amax(-1, keepdim=True)
    scale = torch.where((scale > 0) & (scale != float("inf")), scale, 1)
    zero = terms == 0
    total = torch.where(zero, 0, torch.where(zero, 1, terms / scale) ** p).sum(-1)
    zero = total == 0
    return torch.where(zero, 0, scale.squeeze(-1) * torch.where(zero, 1, total) ** (1 / p))


pytorch_pullback.register(LpPool)(differentiated)


@pytorch_funcify.register(GatherAtMaxima)
def pytorch_funcify_GatherAtMaxima(op, node, **kwargs):
    pool = of_node(op.op, node.inputs[0])
    if not is_native(pool, node):
        return for_known_lengths(op)

    def gather_at_maxima(x, values):
        if isinstance(pool, AdaptivePool):
            n, (_, places) = len(pool.output_size), adaptive_maxima(pool, x)
        else:
            n, (_, places) = len(pool.ws), maxima(pool, x)
            values = pad(values, padding(pool, x), 0)
        cells = as_images(values, n).flatten(2)
        return like(cells.gather(2, places.flatten(2)).reshape(places.shape), x, n)

    return gather_at_maxima


@pytorch_funcify.register(PoolWithIndices)
def pytorch_funcify_PoolWithIndices(op, node, **kwargs):
    pool = of_node(op.op, node.inputs[0])
    if not is_native(pool, node):
        return for_known_lengths(op)

    def max_pool_with_indices(x):
        n = len(pool.ws)
        out, places = maxima(pool, x)
        return like(out, x, n), like(on_image(pool, places, x), x, n)

    def adaptive_pool_with_indices(x):
        return tuple(like(v, x, len(pool.output_size)) for v in adaptive_maxima(pool, x))

    return adaptive_pool_with_indices if isinstance(pool, AdaptivePool) else max_pool_with_indices


def on_image(op, places, x):
    """Return positions in the image for those in the padded image.

    Padding stands for the first cell of the image in the same window.
    """
    result, cells = 0, 1
    axes = zip(x.shape[-len(op.ws) :], padding(op, x), op.dilation, strict=True)
    for length, (before, after), dilation in reversed(list(axes)):
        padded = length + before + after
        place = places % padded - before
        place = torch.where(place < 0, place % dilation, place).clamp(max=length - 1)
        result = result + place * cells
        places, cells = places // padded, cells * length
    return result
