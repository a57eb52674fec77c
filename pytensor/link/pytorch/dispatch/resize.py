import numpy as np
import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.resize.ops import Resize, ResizeGrad
from pytensor.tensor.resize.taps import along


def _computing(x):
    return x.float() if x.dtype == torch.float16 else x


def _taps(op, lengths, device):
    """Return, per axis and tap, the cells that are read and their weights, or None for 1."""
    taps = []
    for i in range(op.n_spatial):
        cells, weights = op.taps(lengths, i)
        cells = torch.as_tensor(np.ascontiguousarray(cells.T), device=device)
        if weights is not None:
            weights = torch.as_tensor(np.ascontiguousarray(weights.T), device=device)
        taps.append((cells, weights))
    return taps


def _outside(op, lengths, device):
    if not op.roi:
        return []
    return [torch.as_tensor(op.outside(lengths, i), device=device) for i in range(op.n_spatial)]


def _weighted(x, weights, tap, axis):
    if weights is None:
        return x
    factors = along(weights[tap].to(x.dtype), axis, x.ndim)
    # What has no weight isn't read: zero times NaN would be NaN.
    return torch.where(factors == 0, torch.zeros_like(x), x * factors)


def _lookup(x, cells, weights, axis):
    terms = [
        _weighted(x.index_select(axis, places), weights, tap, axis)
        for tap, places in enumerate(cells)
    ]
    return sum(terms[1:], start=terms[0])


def _transposed_lookup(x, cells, weights, axis, length):
    out = x.new_zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]))
    for tap, places in enumerate(cells):
        out = out.index_add(axis, places, _weighted(x, weights, tap, axis))
    return out


def _fill_outside(op, lengths, x, value):
    for axis, outside in zip(op.axes, _outside(op, lengths, x.device), strict=False):
        x = torch.where(along(outside, axis, x.ndim), x.new_tensor(value), x)
    return x


@pytorch_funcify.register(Resize)
def pytorch_funcify_Resize(op, **kwargs):
    # The compiler would trace the NumPy code that works out the taps, with symbols for lengths.
    @torch.compiler.disable
    def resize(x):
        lengths = [x.shape[axis] for axis in op.axes]
        out = _computing(x)
        for axis, taps in zip(op.axes, _taps(op, lengths, x.device), strict=True):
            out = _lookup(out, *taps, axis)
        return _fill_outside(op, lengths, out, op.extrapolation_value).to(x.dtype)

    return resize


@pytorch_funcify.register(ResizeGrad)
def pytorch_funcify_ResizeGrad(op, **kwargs):
    op = op.op

    @torch.compiler.disable
    def resize_grad(x, cotangent):
        lengths = [x.shape[axis] for axis in op.axes]
        out = _fill_outside(op, lengths, _computing(cotangent), 0)
        for axis, length, taps in zip(
            op.axes, lengths, _taps(op, lengths, x.device), strict=True
        ):
            out = _transposed_lookup(out, *taps, axis, length)
        return out.to(x.dtype)

    return resize_grad
