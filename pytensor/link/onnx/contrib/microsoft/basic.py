"""Operators of com.microsoft, which onnxruntime's optimizer makes of others."""

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.activations import OF_GATES, swish, thresholded_relu
from pytensor.link.onnx.importing.operators.algebra import gemm, trilu
from pytensor.link.onnx.importing.operators.convolution import conv_
from pytensor.link.onnx.importing.registry import (
    MICROSOFT,
    Refused,
    attributes_of,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import like, normalized
from pytensor.tensor.basic import cast


def _sum(*values):
    first, *others = (v for v in values if v is not None)
    for other in others:
        first = first + other
    return first


@operator_funcify.register("Gelu", "BiasGelu", domain=MICROSOFT)
def gelu(x, bias=None):
    return pt.nn.gelu(_sum(x, bias))


@operator_funcify.register("FastGelu", domain=MICROSOFT)
def fast_gelu(x, bias=None):
    return pt.nn.gelu(_sum(x, bias), approximate="tanh")


@operator_funcify.register("QuickGelu", domain=MICROSOFT)
def quick_gelu(x, *, alpha=1.702):
    return swish(x, alpha=alpha)


def _activated(x, name, parameters):
    if not name:
        return x
    if name == "Clip":
        return pt.clip(x, *(like(x, v) for v in parameters))
    if name.lower() not in OF_GATES:
        raise Refused(f"the activation {name!r} isn't known")
    function, defaults = OF_GATES[name.lower()]
    if name.lower() == "thresholdedrelu":
        return thresholded_relu(x, alpha=(*parameters, 1.0)[0])  # not that of gates, at alpha
    alpha, beta, *_ = [*parameters, *defaults[len(parameters) :], None, None]
    return function(x, alpha, beta)


@operator_funcify.register("FusedConv", domain=MICROSOFT)
@attributes_of(conv_)
def fused_conv(x, w, b=None, z=None, *, activation=None, activation_params=(), **attributes):
    return _activated(_sum(conv_(x, w, b, **attributes), z), activation, activation_params)


@operator_funcify.register("FusedGemm", domain=MICROSOFT)
@attributes_of(gemm)
def fused_gemm(
    a, b, c=None, *, activation=None, activation_alpha=None, activation_beta=None,
    activation_gamma=None, **attributes,
):  # fmt: skip
    given = activation_alpha, activation_beta, activation_gamma
    parameters = [v for v in given if v is not None]
    return _activated(gemm(a, b, c, **attributes), activation, parameters)


@operator_funcify.register("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_mat_mul(a, b, *, alpha=1.0, transA=0, transB=0, transBatchA=0, transBatchB=0):
    product = pt.matmul(_turned(a, transA, transBatchA), _turned(b, transB, transBatchB))
    return product if alpha == 1 else product * like(a, alpha)


def _turned(x, turns, turns_batch):
    """Return a factor of a product, its axes in the order in which they are multiplied."""
    axes = [*range(x.type.ndim)]
    if turns_batch:
        axes = [*axes[1:-1], 0, axes[-1]]
    if turns and len(axes) > 1:
        axes[-2:] = reversed(axes[-2:])
    return x.dimshuffle(*axes)


def _without_statistics(node, *positions):
    if not node.wanted_outputs.isdisjoint(positions):
        raise Refused("its mean or inverse deviation is read, which is only for training")


def _skip_outputs(out, added):
    """Return the result and what was normalized; nobody reads the statistics between them."""
    return out, added, added, added


@operator_funcify.register("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(node, x, skip, gamma, beta=None, bias=None, *, epsilon=1e-12):
    _without_statistics(node, 1, 2)
    added = _sum(x, skip, bias)
    out = pt.nn.layer_norm(added, added.type.shape[-1:], gamma, beta, eps=epsilon)
    return _skip_outputs(out, added)


@operator_funcify.register("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_normalization(node, x, skip, gamma, bias=None, *, epsilon=1e-12):
    _without_statistics(node, 1, 2)
    added = _sum(x, skip, bias)
    return _skip_outputs(pt.nn.rms_norm(added, added.type.shape[-1:], gamma, eps=epsilon), added)


@operator_funcify.register("SimplifiedLayerNormalization")
@operator_funcify.register("SimplifiedLayerNormalization", domain=MICROSOFT)
def simplified_layer_normalization(node, x, scale, *, axis=-1, epsilon=1e-5, stash_type=1):
    # `stash_type` is of the statistics, which may have a wider dtype than they must
    _without_statistics(node, 1)
    axis = normalized(axis, x.type.ndim)
    return pt.nn.rms_norm(x, x.type.shape[axis:], scale, eps=epsilon)


@operator_funcify.register("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    words, segments, of_words, of_positions, of_segments, gamma, beta, mask=None, places=None, *,
    epsilon=1e-12, mask_index_type=0,
):  # fmt: skip
    added = of_words[words]
    added = added + (of_positions[: words.shape[1]] if places is None else of_positions[places])
    if segments is not None:
        added = added + of_segments[segments]
    out = pt.nn.layer_norm(added, added.type.shape[-1:], gamma, beta, eps=epsilon)
    if mask is None:
        n_words = pt.zeros(words.shape[:1], dtype="int32")
    else:
        n_words = pt.eq(mask, 1).sum(axis=1, dtype="int32", acc_dtype="int32")
    return out, n_words, added


@operator_funcify.register("Inverse", domain=MICROSOFT)
def inverse(x):
    if x.type.dtype == "float16":
        return cast(pt.linalg.inv(cast(x, "float32")), "float16")
    return pt.linalg.inv(x)


operator_funcify.register("Trilu", domain=MICROSOFT)(trilu)
