"""Attention of com.microsoft, as the models that onnxruntime's tools optimize have it.

Source: the operators' documentation, docs/ContribOperators.md of onnxruntime; where it leaves
something open, its CPU kernels, with which each is compared.
"""

import math
from itertools import pairwise
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.rare.attention import (
    cap,
    head_size,
    merge_heads,
    split_heads,
    turned,
)
from pytensor.link.onnx.importing.registry import (
    MICROSOFT,
    Refused,
    attributes_of,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import broadcastable, filled, like, positions, wide
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.special import softmax


def _refuse_inputs(**inputs):
    """Refuse inputs that are given and not supported, by their names."""
    for name, value in inputs.items():
        if value is not None:
            raise Refused(f"its input {name} isn't supported; export the model without it")


def _scale(q, scale):
    """Return what products of queries and keys are multiplied by."""
    return like(q, scale or 1 / math.sqrt(head_size(q)))


def _add(scores, more):
    """Add something that broadcasts to scores, if there is something."""
    if more is None:
        return scores
    _, more = broadcastable((scores, wide(more)))
    return scores + more


def _masked(scores, mask, value):
    """Add a value to scores where a padding mask hides keys."""
    if mask is None:
        return scores
    keys = lengths_of(scores)[3]
    if mask.type.ndim == 1:
        number, rows = mask.type.shape[0], scores.type.shape[0]
        if number is None or rows is None or number not in (rows, 2 * rows):
            raise Refused(
                "its mask is a vector: it must have one length for each row, or the end and the "
                "start for each, and both numbers must be known"
            )
        kept = positions(keys) < mask[:rows, None]
        if number == 2 * rows:
            kept = pt.and_(kept, positions(keys) >= mask[rows:, None])
        kept = kept.dimshuffle(0, "x", "x", 1)
    elif mask.type.ndim == 2:
        kept = (mask > 0).dimshuffle(0, "x", "x", 1)
    elif mask.type.ndim == 3:
        kept = (mask > 0).dimshuffle(0, "x", 1, 2)
    else:
        raise Refused(f"its mask has {mask.type.ndim} axes; 1 to 3 are supported")
    return _add(scores, pt.switch(kept, like(scores, 0), like(scores, value)))


def _causal(scores, past):
    """Return scores, minus infinity for the keys behind each query."""
    _, _, queries, keys = lengths_of(scores)
    kept = positions(keys) <= positions(queries)[:, None] + past
    return pt.switch(kept, scores, like(scores, -np.inf))


def _attended(
    q, k, v, mask, bias, past, *, mask_filter_value=-10000.0, scale=0.0, unidirectional=0
):
    """Attend by (batch, heads, length, size), merged to (batch, length, width)."""
    dtype = q.type.dtype
    # In half precision as in onnxruntime: scores are sums in single precision
    q, k, v = wide(q), wide(k), wide(v)
    scores = pt.matmul(q, pt.swapaxes(k, 2, 3)) * _scale(q, scale)
    scores = _add(_masked(scores, mask, mask_filter_value), bias)
    scores = _causal(scores, past) if unidirectional else scores
    return merge_heads(pt.cast(pt.matmul(softmax(scores, axis=-1), v), dtype))


@operator_funcify.register("Attention", domain=MICROSOFT)
@attributes_of(_attended)
def attention(
    node, x, weights, bias=None, mask=None, past=None, added=None, past_length=None, *,
    do_rotary: Literal[0] = 0, num_heads, past_present_share_buffer: Literal[0] = 0,
    qkv_hidden_sizes=(), rotary_embedding_dim=0, **how,
):  # fmt: skip
    _refuse_inputs(past_sequence_length=past_length)
    columns = weights.type.shape[1]
    if columns is None:
        raise Refused("the number of its weights' columns isn't known")
    widths = qkv_hidden_sizes or [columns // 3] * 3
    projected = pt.matmul(wide(x), wide(weights))
    projected = pt.cast(projected if bias is None else projected + wide(bias), x.type.dtype)
    ends = np.cumsum([0, *widths]).tolist()
    if len(widths) != 3 or ends[-1] != columns:
        raise Refused(f"its weights have {columns} columns, for q, k and v of {widths}")
    q, k, v = (split_heads(projected[:, :, a:b], num_heads) for a, b in pairwise(ends))
    length = 0
    if past is not None:
        length = lengths_of(past)[3]
        k, v = pt.concatenate([past[0], k], axis=2), pt.concatenate([past[1], v], axis=2)
    out = _attended(q, k, v, mask, added, length, **how)
    return (out, pt.stack([k, v])) if 1 in node.wanted_outputs else out


@operator_funcify.register("MultiHeadAttention", domain=MICROSOFT)
@attributes_of(_attended)
def multi_head_attention(
    node, q, k=None, v=None, bias=None, mask=None, added=None, past_k=None, past_v=None,
    past_length=None, indirection=None, *, num_heads, **how,
):  # fmt: skip
    _refuse_inputs(past_sequence_length=past_length, cache_indirection=indirection)
    if k is None or v is None or q.type.ndim != 3 or 5 in (k.type.ndim, v.type.ndim):
        raise Refused("its query, key and value are packed into one tensor; give it each by itself")
    if 3 in node.wanted_outputs:
        raise Refused("its output qk isn't supported")
    if bias is not None:
        width = lengths_of(q)[2]
        if not isinstance(width, int):
            raise Refused("it has a bias, and the width of its query isn't known")
        q = q + bias[:width]
        k = k + bias[width : 2 * width] if k.type.ndim == 3 else k
        given, needed = bias.type.shape[0], v.type.shape[2]
        if v.type.ndim == 3 and None not in (given, needed) and given != 2 * width + needed:
            raise Refused(f"its bias has {given} entries, and needs {2 * width + needed}")
        v = v + bias[2 * width :] if v.type.ndim == 3 else v
    q = split_heads(q, num_heads)
    k, v = (x if x.type.ndim == 4 else split_heads(x, num_heads) for x in (k, v))
    length = 0
    if past_k is not None:
        length = lengths_of(past_k)[2]
        k, v = pt.concatenate([past_k, k], axis=2), pt.concatenate([past_v, v], axis=2)
    return _attended(q, k, v, mask, added, length, **how), k, v


@operator_funcify.register("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(
    x, places, cos, sin, *, interleaved=0, is_packed_batching: Literal[0] = 0, num_heads=0,
    rotary_embedding_dim=0, scale: Literal[1.0] = 1.0,
):  # fmt: skip
    merged = x.type.ndim == 3
    if rotary_embedding_dim and not num_heads:
        raise Refused("it has rotary_embedding_dim, and no num_heads, which it must have then")
    if merged:
        x = split_heads(x, num_heads or lengths_of(x)[2] // (lengths_of(cos)[1] * 2))
    if places.type.ndim == 1:
        places = places.reshape((1, 1)) + positions(lengths_of(x)[2], places.type.dtype)
    elif places.type.ndim != 2:
        raise Refused("its position_ids have neither one axis nor two")
    angles = (table[places].dimshuffle(0, "x", 1, 2) for table in (cos, sin))
    out = turned(x, *angles, rotary_embedding_dim or lengths_of(x)[3], interleaved)
    return merge_heads(out) if merged else out


@operator_funcify.register("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(
    q, k, v, past_k, past_v, ends, total, cos=None, sin=None, places=None, added=None, sink=None,
    k_scale=None, v_scale=None, q_norm=None, k_norm=None, *, causal: Literal[1] = 1, do_rotary=0,
    k_quant_type: Literal["NONE"] = "NONE", kv_cache_bit_width: Literal[0] = 0, kv_num_heads,
    local_window_size=-1, num_heads, qk_norm_epsilon=1e-6, qk_output: Literal[0] = 0,
    rotary_interleaved=0, scale=0.0, sliding_window_cache: Literal[0] = 0, smooth_softmax=0,
    softcap=0.0, v_quant_type: Literal["NONE"] = "NONE",
):  # fmt: skip
    if local_window_size == 0:
        raise Refused("its local_window_size is 0, a window without any key: -1 stands for none")
    _refuse_inputs(
        k_scale=k_scale, v_scale=v_scale, q_norm_weight=q_norm, k_norm_weight=k_norm,
        position_ids=places,
    )  # fmt: skip
    heads, groups = num_heads, kv_num_heads
    q, k, v = _of_groups(q, k, v, heads, groups)
    batch, _, length, size = lengths_of(q)
    ends, total = pt.cast(ends, "int64"), pt.cast(total.reshape(()), "int64")
    # A first prompt begins at 0, whatever its rows' lengths are
    ends = ends.flatten()  # the last place of each row
    start = pt.switch(pt.eq(total, length), np.int64(0), ends + np.int64(1) - length)
    own = start[:, None] + positions(length)  # of new tokens: (batch, length)
    if do_rotary:
        if cos is None or sin is None:
            raise Refused("it has do_rotary, and neither cos_cache nor sin_cache")
        angles = [table[own].dimshuffle(0, "x", 1, 2) for table in (cos, sin)]
        rotated = lengths_of(cos)[1] * 2
        q, k = (turned(x, *angles, rotated, rotary_interleaved) for x in (q, k))
    k, v = (_stored(past, x, start, own, total) for past, x in ((past_k, k), (past_v, v)))
    shared, dtype = wide(q).reshape((batch, groups, heads // groups, length, size)), q.type.dtype
    scores = pt.matmul(shared, pt.expand_dims(pt.swapaxes(wide(k), 2, 3), 2))
    scores = scores * _scale(wide(q), scale)
    keys = lengths_of(k)[2]
    scores = cap(scores.reshape((batch, heads, length, keys)), softcap)
    if added is not None:
        scores = _add(scores, _of_length(added, keys))
    # Tokens behind a row's end see what its last one sees
    key, query = positions(keys), pt.minimum(own, ends[:, None])[:, None, :, None]
    kept = key <= query
    if local_window_size >= 0:
        kept = pt.and_(kept, key > query - local_window_size)
    weights = _smooth(pt.switch(kept, scores, like(scores, -np.inf)), smooth_softmax, sink)
    weights = weights.reshape((batch, groups, heads // groups, length, keys))
    out = pt.matmul(weights, pt.expand_dims(wide(v), 2)).reshape((batch, heads, length, size))
    return merge_heads(pt.cast(out, dtype)), k, v


def _of_groups(q, k, v, heads, groups):
    """Return queries, keys and values by heads; without keys, all three are in the queries."""
    if k is None or v is None:
        width = lengths_of(q)[2] // (heads + 2 * groups)
        ends = [0, heads * width, (heads + groups) * width, (heads + 2 * groups) * width]
        q, k, v = (q[:, :, a:b] for a, b in pairwise(ends))
    return split_heads(q, heads), split_heads(k, groups), split_heads(v, groups)


def _stored(past, x, start, places, total):
    """Return what was kept up to a start, new rows at their places, zeros behind, as needed."""
    batch, groups, _, size = lengths_of(x)
    before = 0 if past is None else lengths_of(past)[2]
    most = pt.maximum(total, np.int64(before) if isinstance(before, int) else before)
    kept = filled(like(x, 0), (batch, most, groups, size))
    if past is not None:
        used = (positions(before) < start[:, None]).dimshuffle(0, 1, "x", "x")
        past = pt.switch(used, past.dimshuffle(0, 2, 1, 3), like(x, 0))
        kept = pt.set_subtensor(kept[:, :before], past)
    rows = positions(batch)[:, None]
    return kept[rows, places].set(x.dimshuffle(0, 2, 1, 3)).dimshuffle(0, 2, 1, 3)


def _of_length(added, keys):
    """Return an attention bias for all keys; those that it doesn't have get zeros."""
    *before, length = lengths_of(added)
    wider = filled(like(added, 0), (*before, keys))
    return pt.set_subtensor(wider[..., :length], added[..., :keys])


def _smooth(scores, smooth, sink):
    """Compute softmax over keys, with one more in the denominator, of score 0 or one a head."""
    if sink is None and not smooth:
        return softmax(scores, axis=-1)
    batch, heads, length, _ = lengths_of(scores)
    extra = like(scores, 0) if sink is None else wide(sink).dimshuffle("x", 0, "x", "x")
    extra = pt.alloc(extra, batch, heads, length, 1)
    return softmax(pt.concatenate([scores, extra], axis=-1), axis=-1)[..., :-1]
