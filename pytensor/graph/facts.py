"""Facts about an Op that rewrites and backends need, registered in the Op's module.

A module that defines an Op registers what is special about it, and names no rewrite and no
backend; a rewrite or a backend asks, and names no Op.  What nothing was registered for is computed
as the graph says.
"""

from dataclasses import dataclass
from functools import singledispatch

__all__ = ["Layout", "improves_inside", "layout", "precision"]


@dataclass(frozen=True)
class Layout:
    """How an Op treats images, which have four axes: batch, channels, height and width.

    Attributes
    ----------
    images : tuple of int or None
        Which inputs are images; None for all.
    out : bool
        Whether the outputs are images.
    gains : bool
        Whether it is worth a transposition to give it images with the channels last.
    by_axes : bool
        Whether it has ``axes``, and a method ``over(axes)`` that returns it with others: so it
        takes images with the channels last by itself.
    """

    images: tuple | None = None
    out: bool = True
    gains: bool = False
    by_axes: bool = False


@singledispatch
def layout(op):
    """Return the `Layout` of an Op on images; None if it isn't known to be one."""
    return None


@singledispatch
def precision(op):
    """Return how an Op, or a scalar Op, is computed where half of the digits suffice.

    Returns
    -------
    {"single", "view", "cheap", "normalization", "convolution", "product"}
        "single": in full; "view": it neither rounds nor adds; "cheap": in full, and rounded if its
        inputs were; for the others a linker of mixed precision has rules.
    """
    return "single"


@singledispatch
def improves_inside(op):
    """Return whether rewrites may find something to improve in the inner graph of an Op."""
    return True
