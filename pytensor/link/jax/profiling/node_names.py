"""The names of PyTensor's nodes in XLA's programs, so that profiles and traces can be read.

XLA keeps the scope in which an operation was traced in its metadata, and copies it into fusions:
``jit(...)/Conv[stem.weight]/conv_general_dilated`` is the convolution with the shared variable
``stem.weight``.
"""

import re
from collections.abc import Callable
from typing import Any

import jax

from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op

__all__ = ["in_named_scopes", "op_kind", "scope_name"]


def op_kind(op: Any) -> str:
    """Name of an Op's class, without the Ops that only wrap another.

    ``"Conv"`` for the channels-last form of a convolution as well; ``"Elemwise.Mul"`` for a scalar
    Op over all elements; ``"PoolPullback"`` for the pullback that JAX derives.
    """
    name = type(op).__name__
    inner = getattr(op, "op", None)
    if name == "ChannelsLast":
        return op_kind(inner)
    if name == "SymbolicPullback":
        return f"{op_kind(inner)}Pullback"
    scalar_op = getattr(op, "scalar_op", None)
    return name if scalar_op is None else f"{name}.{type(scalar_op).__name__}"


def scope_name(op: Op, node: Apply | None = None) -> str:
    """Name of a node for XLA's metadata.

    It is `op_kind`, and in brackets the name of an input of the graph that the node reads, or else
    that of an output.  Of several such inputs it is an array rather than a scalar, and not the
    first: a convolution's filters stand behind its images, and a rate is a scalar.  What isn't a
    letter, a digit, a dot or a hyphen becomes an underscore: XLA's paths have slashes, and readers
    of traces split at colons.
    """
    name = _clean(op_kind(op))
    variable = None if node is None else _named_variable(node)
    return name if variable is None else f"{name}[{_clean(variable)}]"


def _named_variable(node: Apply) -> str | None:
    inputs = [*node.inputs[1:], *node.inputs[:1]]
    roots = [v for v in inputs if v.owner is None and not isinstance(v, Constant)]
    roots.sort(key=lambda v: getattr(v.type, "ndim", 0) == 0)
    return next((v.name for v in [*roots, *node.outputs] if v.name), None)


def _clean(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def in_named_scopes(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a node conversion, such that what it returns runs within `jax.named_scope`."""

    def converted(op: Op, node: Apply | None = None, **kwargs: Any) -> Any:
        function = convert(op, node=node, **kwargs)
        if node is None:
            return function
        name = scope_name(op, node)

        def scoped(*args: Any) -> Any:
            with jax.named_scope(name):
                return function(*args)

        return scoped

    return converted
