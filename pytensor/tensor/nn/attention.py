"""Attention, with the names, arguments and numbers of PyTorch."""

import math
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor import math as tm
from pytensor.tensor.basic import arange, as_tensor_variable, cast
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.extra_ops import repeat
from pytensor.tensor.nn.checks import floats, like, number, single, where
from pytensor.tensor.nn.dropouts import dropout
from pytensor.tensor.special import softmax
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable

# Of a score that doesn't count: its exponential is 0, and differences of it are finite
NEVER = -1e30


def scaled_dot_product_attention(
    query: TensorLike, key: TensorLike, value: TensorLike, attn_mask: TensorLike | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False, rng: Variable | None = None, return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Return the values, averaged with weights ``softmax(scale * query @ key.T)``.

    Parameters
    ----------
    query : tensor_like, shape (..., queries, features), floating point
        With an axis of heads before the last two, if there are several.
    key : tensor_like, shape (..., keys, features)
    value : tensor_like, shape (..., keys, value features)
        All are cast to the dtype of `query`.
    attn_mask : tensor_like, broadcast to (..., queries, keys), optional
        Booleans, True where a key counts; or numbers that are added to the scores, such as -inf.
    dropout_p : float
        The probability by which weights are set to zero; needs `rng`.  As in PyTorch, it is on
        whenever it isn't 0.
    is_causal : bool
        Whether query i sees the keys 0 to i only.  Not together with `attn_mask`.
    scale : float, optional
        ``1 / sqrt(features)`` by default.
    enable_gqa : bool
        Whether `key` and `value` have fewer heads, each for as many subsequent heads of `query`.
    rng, return_next_rng
        As in `dropout`.

    Returns
    -------
    TensorVariable, shape (..., queries, value features)
        After the next generator, with `return_next_rng`.  0 for a query that sees no key.  Half
        precision is computed in single.

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `query` isn't floating point.

    References
    ----------
    Vaswani et al., "Attention is all you need", arXiv:1706.03762; Ainslie et al., "GQA: training
    generalized multi-query transformer models from multi-head checkpoints", arXiv:2305.13245.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1e4, 0.0], [0.0, 1e4]])
    >>> pt.nn.scaled_dot_product_attention(x, x, [[1.0], [2.0]]).eval()
    array([[1.],
           [2.]])
    """
    name = "scaled_dot_product_attention"
    query = floats(name, "query", query)
    dtype = query.type.dtype
    key, value = (cast(as_tensor_variable(v), dtype) for v in (key, value))
    for label, v in (("query", query), ("key", key), ("value", value)):
        if v.type.ndim < 2:
            raise ValueError(f"{name}: {label} must have 2 axes or more, got {v.type.ndim}")
    if flag(f"{name}: enable_gqa", enable_gqa):
        key, value = (
            _for_heads_of(query, label, v) for label, v in (("key", key), ("value", value))
        )
    query, key, value = single(query, key, value)
    if scale is not None:
        factor: Any = like(number(name, "scale", scale), query)
    elif (features := query.type.shape[-1]) is not None:
        factor = like(1 / math.sqrt(features), query)
    else:
        factor = tm.reciprocal(tm.sqrt(cast(query.shape[-1], query.type.dtype)))
    scores = (query * factor) @ key.swapaxes(-1, -2)
    never = like(NEVER, query)
    seen = None
    if flag(f"{name}: is_causal", is_causal):
        if attn_mask is not None:
            raise ValueError(f"{name}: give attn_mask or is_causal=True, not both")
        # every query sees the first key, so no row is empty
        rows, columns = (arange(scores.shape[axis]) for axis in (-2, -1))
        scores = where(rows[:, None] >= columns, scores, never)
    elif attn_mask is not None:
        seen = as_tensor_variable(attn_mask)
        if seen.type.dtype in float_dtypes:
            scores, seen = scores + cast(seen, query.type.dtype), tm.neq(seen, -math.inf)
        elif seen.type.dtype != "bool":
            raise TypeError(
                f"{name}: attn_mask must be bool or floating point, got {seen.type.dtype}"
            )
        scores = where(seen, scores, never)
    weights = softmax(scores, -1)
    if seen is not None:
        weights = where(seen, weights, like(0, query))
    dropped = dropout(weights, dropout_p, True, rng=rng, return_next_rng=return_next_rng)
    next_rng, weights = dropped if return_next_rng else (None, dropped)
    out = cast(weights @ value, dtype)
    return (next_rng, out) if return_next_rng else out


def _for_heads_of(query: TensorVariable, name: str, v: TensorVariable) -> TensorVariable:
    """Repeat the heads of keys or values as often as the heads of `query` need it."""
    heads, own = (u.type.shape[-3] if u.type.ndim > 2 else None for u in (query, v))
    if heads is None or own is None or own == 0 or heads % own:
        raise ValueError(
            f"scaled_dot_product_attention: enable_gqa=True needs known numbers of heads, of query "
            f"a multiple of {name}'s; got {heads} and {own} (axis -3). pt.specify_shape "
            "makes them known"
        )
    return v if heads == own else repeat(v, heads // own, axis=v.type.ndim - 3)
