"""Attention of com.microsoft and its like: drawn attributes and inputs, as in onnxruntime."""

import numpy as np
import pytest

from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing.registry import MICROSOFT
from tests.link.onnx.importing.with_onnxruntime import compare, one_node

B, S, N, H = 2, 3, 2, 4  # rows, tokens, heads, features of a head


def normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def drawn_mask(rng, keys, kinds):
    kind = rng.choice(kinds)
    if kind == "ends":
        return rng.integers(1, keys + 1, B).astype("int32")
    if kind == "ends and starts":
        return np.concatenate([rng.integers(2, keys + 1, B), [0, 1]]).astype("int32")
    shape = {"none": None, "keys": (B, keys), "pairs": (B, S, keys)}[kind]
    if shape is None:
        return None
    mask = rng.integers(0, 2, shape).astype("int32")
    mask[..., 0] = 1
    return mask


def maybe(rng, value):
    return value if rng.integers(2) else None


def attention(rng):
    past = int(rng.integers(2)) * 2
    widths = maybe(rng, [N * H, N * H, N * 3])
    columns = sum(widths) if widths else 3 * N * H
    if past and widths:  # whose keys and values are in one tensor
        past = 0
    kinds = (
        ["none", "keys", "pairs"] if past else ["none", "ends", "ends and starts", "keys", "pairs"]
    )
    inputs = [
        normal(rng, B, S, 5),
        normal(rng, 5, columns),
        normal(rng, columns),
        drawn_mask(rng, past + S, kinds),
        normal(rng, 2, B, N, past, H) if past else None,
        maybe(rng, normal(rng, int(rng.choice([1, B])), int(rng.choice([1, N])), S, past + S)),
    ]
    if past:  # with which the kernel takes no bias
        inputs[5] = None
    attributes = {"num_heads": N, "unidirectional": int(rng.integers(2))}
    attributes |= {"qkv_hidden_sizes": widths} if widths else {}
    attributes |= {"scale": 0.3} if rng.integers(2) else {}
    attributes |= {"mask_filter_value": -5.0} if rng.integers(2) else {}
    return inputs, attributes, 2 if past else 1


def multi_head_attention(rng):
    past = int(rng.integers(2)) * 2
    cross = not past and bool(rng.integers(2))
    keys, width = (5 if cross else S), int(rng.choice([3, H]))
    if past:
        width = H
    k, v = normal(rng, B, keys, N * H), normal(rng, B, keys, N * width)
    bias = maybe(rng, normal(rng, 2 * N * H + N * width))
    if cross and rng.integers(2):
        k, v, bias = normal(rng, B, N, keys, H), normal(rng, B, N, keys, H), None
    inputs = [
        normal(rng, B, S, N * H),
        k,
        v,
        bias,
        drawn_mask(rng, past + keys, ["none", "keys", "pairs", *([] if past else ["ends"])]),
        maybe(rng, normal(rng, 1, int(rng.choice([1, N])), S, past + keys)),
        *((normal(rng, B, N, past, H), normal(rng, B, N, past, H)) if past else (None, None)),
    ]
    attributes = {"num_heads": N}
    if not cross:
        attributes["unidirectional"] = int(rng.integers(2))
    attributes |= {"scale": 0.3} if rng.integers(2) else {}
    return inputs, attributes, 3 if past else 1


def rotary_embedding(rng):
    merged, partial = rng.integers(2, size=2)
    rotated = 2 if partial else H
    places = [np.array([2]), rng.integers(0, 9, (B, S))][int(rng.integers(2))]
    x = normal(rng, B, S, N * H) if merged else normal(rng, B, N, S, H)
    inputs = [x, places, *(normal(rng, 9, rotated // 2) for _ in range(2))]
    attributes = {"interleaved": int(rng.integers(2))}
    if partial or rng.integers(2):
        attributes |= {"num_heads": N, "rotary_embedding_dim": rotated if partial else 0}
    return inputs, attributes, 1


def group_query_attention(rng):
    heads, groups, size = 4, 2, 16  # the kernels want multiples of 16
    prompt, several = rng.integers(2, size=2)
    rows = 1 if several and not prompt else B  # as the kernel has it
    length = int(rng.integers(2, 5)) if prompt or several else 1
    stored = 0 if prompt else int(rng.integers(3, 7))
    ends = rng.integers(length if several else 1, length + stored + 1, rows)
    ends[0] = length + stored
    total = int(ends.max())
    packed = bool(rng.integers(2))
    q, k, v = (normal(rng, rows, length, n * size) for n in (heads, groups, groups))
    qkv = [np.concatenate([q, k, v], axis=2), None, None] if packed else [q, k, v]
    rotary = bool(rng.integers(2))
    bias = None if rng.integers(2) else normal(rng, 1, int(rng.choice([1, heads])), length, total)
    inputs = [
        *qkv,
        *(normal(rng, rows, groups, stored, size) for _ in range(2)),
        (ends - 1).astype("int32"),
        np.array([total], "int32"),
        *((normal(rng, 12, size // 2) for _ in range(2)) if rotary else (None, None)),
        None,
        bias,
        maybe(rng, normal(rng, heads)),
    ]
    attributes = {"num_heads": heads, "kv_num_heads": groups, "do_rotary": int(rotary)}
    attributes |= {"rotary_interleaved": int(rng.integers(2)) if rotary else 0}
    attributes |= {"softcap": 0.7} if rng.integers(2) else {}
    attributes |= {"scale": 0.3} if rng.integers(2) else {}
    attributes |= {"local_window_size": 2} if rng.integers(2) else {}
    attributes |= {"smooth_softmax": 1} if inputs[11] is None and rng.integers(2) else {}
    return inputs, attributes, 3


def mat_mul_n_bits(rng):
    bits, block = int(rng.choice([4, 4, 8])), int(rng.choice([16, 32]))
    depth, columns = int(rng.choice([32, 40, 64])), 6
    blocks = -(-depth // block)
    zero = int(rng.integers(3))
    packed = rng.integers(0, 256, (columns, -(-blocks * bits // 8)), dtype="uint8")
    zeros = [None, packed.ravel(), normal(rng, columns, blocks).ravel()][zero if bits == 4 else 0]
    inputs = [
        normal(rng, 2, 3, depth),
        rng.integers(0, 256, (columns, blocks, block * bits // 8), dtype="uint8"),
        normal(rng, columns * blocks),
        zeros,
        None,
        maybe(rng, normal(rng, columns)),
    ]
    attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block}
    return inputs, attributes | {"accuracy_level": 1, "weight_prepacked": 0}, 1


def nhwc_max_pool(rng):
    pads = [int(n) for n in rng.integers(0, 2, 4)]
    inputs = [rng.integers(0, 256, (1, 6, 7, 2), dtype="uint8")]
    attributes = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": pads}
    return inputs, attributes | {"ceil_mode": int(rng.integers(2))}, 1


DRAWN = {
    "Attention": attention,
    "GroupQueryAttention": group_query_attention,
    "MatMulNBits": mat_mul_n_bits,
    "MultiHeadAttention": multi_head_attention,
    "NhwcMaxPool": nhwc_max_pool,
    "RotaryEmbedding": rotary_embedding,
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("op_type", DRAWN)
def test_as_in_onnxruntime(op_type, seed):
    inputs, attributes, n_outputs = DRAWN[op_type](np.random.default_rng(seed))
    while inputs[-1] is None:
        del inputs[-1]
    model = one_node(op_type, inputs, n_outputs, domain=MICROSOFT, **attributes)
    compare(model, [v for v in inputs if v is not None], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("op_type", "change", "reason"),
    [
        ("Attention", {"do_rotary": 1}, "attribute do_rotary is 1, and only 0 is supported"),
        ("GroupQueryAttention", {"causal": 0}, "attribute causal is 0"),
        ("MatMulNBits", {"bits": 3}, "weights have 3 bits"),
        ("RotaryEmbedding", {"is_packed_batching": 1}, "attribute is_packed_batching"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(op_type, change, reason):
    inputs, attributes, _ = DRAWN[op_type](np.random.default_rng(0))
    while inputs[-1] is None:
        del inputs[-1]
    model = one_node(op_type, inputs, domain=MICROSOFT, **(attributes | change))
    with pytest.raises(ImportedOpError, match=reason):
        from_onnx(model)
