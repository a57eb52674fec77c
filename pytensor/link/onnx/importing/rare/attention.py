"""Attention, and rotary embeddings."""

import math
from functools import reduce

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import Refused, dtype_name, must_have, operator_funcify
from pytensor.link.onnx.importing.sizes import filled, like, positions
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.special import softmax


def _heads(x, **number):
    """Return `x` as (batch, heads, length, size); it may be (batch, length, heads * size).

    `number` is the attribute that says how many heads there are, by its name.
    """
    if x.type.ndim == 4:
        return x
    must_have(**number)
    return split_heads(x, *number.values())


def split_heads(x, heads):
    """Split (batch, length, heads * size) to (batch, heads, length, size)."""
    batch, length, width = lengths_of(x)
    return x.reshape((batch, length, heads, width // heads)).dimshuffle(0, 2, 1, 3)


def merge_heads(x):
    """Merge (batch, heads, length, size) to (batch, length, heads * size)."""
    batch, heads, length, size = lengths_of(x)
    return x.dimshuffle(0, 2, 1, 3).reshape((batch, length, heads * size))


def cap(scores, softcap):
    """Return scores between ``-softcap`` and ``softcap``; as they are where that is 0."""
    return like(scores, softcap) * pt.tanh(scores / like(scores, softcap)) if softcap else scores


@operator_funcify.register("Attention")
def attention(
    q,
    k,
    v,
    attn_mask=None,
    past_key=None,
    past_value=None,
    nonpad_kv_seqlen=None,
    *,
    is_causal=0,
    kv_num_heads=None,
    left_window_size=-1,
    q_num_heads=None,
    qk_matmul_output_mode=0,
    right_window_size=-1,
    scale=None,
    softcap=0.0,
    softmax_precision=None,
):
    merged, dtype = q.type.ndim == 3, q.type.dtype
    q = _heads(q, q_num_heads=q_num_heads)
    k, v = (_heads(x, kv_num_heads=kv_num_heads) for x in (k, v))
    if (past_key is None) != (past_value is None):
        raise Refused("it has only one of past_key and past_value: give it both or neither")
    if qk_matmul_output_mode not in range(4):
        raise Refused(f"its qk_matmul_output_mode is {qk_matmul_output_mode}; there are 0 to 3")
    offset = 0
    if past_key is not None:
        offset = lengths_of(past_key)[2]
        k, v = pt.concatenate([past_key, k], axis=2), pt.concatenate([past_value, v], axis=2)
    elif nonpad_kv_seqlen is not None:
        offset = (nonpad_kv_seqlen - lengths_of(q)[2])[:, None, None, None]
    factor = like(q, math.sqrt(1 / math.sqrt(head_size(q)) if scale is None else scale))
    batch, heads, queries, _ = lengths_of(q)
    groups, keys = lengths_of(k)[1:3]
    # Each head of the keys serves heads // groups heads of the queries
    shared = (q * factor).reshape((batch, groups, heads // groups, *lengths_of(q)[2:]))
    raw = pt.matmul(shared, pt.expand_dims(pt.swapaxes(k * factor, 2, 3), 2))
    raw = raw.reshape((batch, heads, queries, keys))
    capped = cap(raw, softcap)
    bias = like(capped, 0) if attn_mask is None else _bias(attn_mask, capped, keys)
    biased = capped if attn_mask is None else capped + bias
    window = left_window_size, right_window_size
    allowed = _allowed(is_causal, window, offset, nonpad_kv_seqlen, queries, keys)
    if allowed is not None:
        biased = pt.switch(allowed, biased, like(biased, -np.inf))
    scores = biased
    if softmax_precision is not None:
        scores = pt.cast(biased, dtype_name(ir.DataType(softmax_precision)))
    # Zeros where a query has nothing to attend to; not where its scores are NaN
    masked = pt.eq(scores, like(scores, -np.inf)) | pt.eq(bias, like(bias, -np.inf))
    idle = masked.all(axis=-1, keepdims=True)
    weights = softmax(pt.switch(idle, like(scores, 0), scores), axis=-1)
    weights = pt.cast(pt.switch(idle, like(scores, 0), weights), dtype)
    shared = weights.reshape((batch, groups, heads // groups, queries, keys))
    out = pt.matmul(shared, pt.expand_dims(v, 2))
    out = pt.cast(out.reshape((batch, heads, queries, lengths_of(v)[3])), dtype)
    stage = (raw, capped, biased, weights)[qk_matmul_output_mode]
    return merge_heads(out) if merged else out, k, v, stage


def head_size(q):
    """Return the number of features of a query in one head, which must be known."""
    size = q.type.shape[3]
    if size is None:
        raise Refused("the size of its heads isn't known: fix it, or give it the attribute scale")
    return size


def _bias(mask, scores, keys):
    """Return what a mask adds to scores; keys beyond its end get no attention."""
    if mask.type.dtype == "bool":
        mask = pt.switch(mask, like(scores, 0), like(scores, -np.inf))
    elif mask.type.dtype != scores.type.dtype:
        raise Refused(f"its mask is {mask.type.dtype}; it must be bool or {scores.type.dtype}")
    length = mask.type.shape[-1]
    if length == keys and length is not None:
        return mask
    if length == 1:
        raise Refused("its mask has length 1 for several keys: repeat it for each of them")
    *before, length = lengths_of(mask)
    longer = filled(like(scores, -np.inf), (*before, keys))
    return pt.set_subtensor(longer[..., :length], mask)


def _allowed(causal, window, offset, ends, queries, keys):
    """Return which keys each query may attend to, if not all."""
    left, right = window
    key, query = positions(keys), positions(queries)[:, None] + offset
    conditions = [key <= query] if causal else []
    conditions += [key >= query - left] if left >= 0 else []
    conditions += [key <= query + right] if right >= 0 else []
    conditions += [key < ends[:, None, None, None]] if ends is not None else []
    return reduce(pt.and_, conditions) if conditions else None


@operator_funcify.register("RotaryEmbedding")
def rotary_embedding(
    x, cos, sin, position_ids=None, *, interleaved=0, num_heads=None, rotary_embedding_dim=0
):
    merged = x.type.ndim == 3
    x = _heads(x, num_heads=num_heads)
    if position_ids is not None:
        cos, sin = cos[position_ids], sin[position_ids]
    rotated = rotary_embedding_dim or lengths_of(x)[3]
    out = turned(x, cos[:, None], sin[:, None], rotated, interleaved)
    return merge_heads(out) if merged else out


def turned(x, cos, sin, rotated, interleaved):
    """Turn pairs of the first `rotated` features of `x` by angles, given by `cos` and `sin`."""
    rest, x = x[..., rotated:], x[..., :rotated]
    if interleaved:
        real, imaginary = x[..., 0::2], x[..., 1::2]
    else:
        real, imaginary = x[..., : rotated // 2], x[..., rotated // 2 :]
    parts = [cos * real - sin * imaginary, sin * real + cos * imaginary]
    if interleaved:
        out = pt.stack(parts, axis=-1).reshape(tuple(lengths_of(x)))
    else:
        out = pt.concatenate(parts, axis=-1)
    return pt.concatenate([out, rest], axis=-1)
