"""Norms of windows."""

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.tensor.basic import cast, constant, switch
from pytensor.tensor.math import abs as pt_abs
from pytensor.tensor.math import and_, eq, isinf
from pytensor.tensor.pool.ops import accumulation_dtype, keeps, symbolic_pullback
from pytensor.tensor.pool.windows import WindowOp


def norm_of_terms(terms, p, largest, reduce):
    """Norm of order `p` of numbers of at least 0, with gradient 0 where they are 0.

    Parameters
    ----------
    terms : list of TensorVariable
    p : float
    largest : TensorVariable
        The largest of them: it is taken out, for powers to neither overflow nor vanish.
    reduce : callable
        Adds the powers up.
    """
    dtype = largest.type.dtype
    one = constant(np.asarray(1, dtype))
    largest = disconnected_grad(largest)
    scale = switch(and_(largest > 0, ~isinf(largest)), largest, one)
    powers = []
    for term in terms:
        zero = eq(term, 0)
        # The derivative of a power of less than 1 isn't finite at 0.
        power = switch(zero, one, term / scale) ** constant(np.asarray(p, dtype))
        powers.append(switch(zero, 0 * one, power))
    total = reduce(powers)
    zero = eq(total, 0)
    root = switch(zero, one, total) ** constant(np.asarray(1 / p, dtype))
    return switch(zero, 0 * one, scale * root)


class LpPool(WindowOp):
    """Norms of order `norm_type` of windows over the last ``len(ws)`` axes; see `WindowOp`."""

    __props__ = ("norm_type", "ws", "stride", "pad", "dilation", "ignore_border")

    def build_inner_graph(self, x):
        out = pt_abs(cast(x, accumulation_dtype(x.type.dtype)))
        # A norm of norms over rows is the norm over rows and columns.
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(out, i)
            taps = self.taps(self.pad_axis(out, i, 0), i, windows)
            if len(taps) == 1:
                out = taps[0]
            else:
                largest = taps[0]
                for tap in taps[1:]:
                    largest = switch(keeps(largest, tap), largest, tap)
                out = norm_of_terms(
                    taps, self.norm_type, largest, lambda terms: sum(terms[1:], start=terms[0])
                )
            out = self.with_length(out, i, windows)
        return [cast(out, x.type.dtype)]

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]
