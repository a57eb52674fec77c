"""Operators of com.microsoft, which onnxruntime's optimizer makes of others."""

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.activations import OF_GATES
from pytensor.link.onnx.importing.registry import MICROSOFT, Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import normalized
from pytensor.link.onnx.importing.windows import like, single
from pytensor.tensor.basic import cast


def _standard(op_type, node, *inputs):
    """Return the result of a standard operator with this node's attributes."""
    return operator_funcify.dispatch(op_type)(node, *inputs)


def _sum(*values):
    first, *others = (v for v in values if v is not None)
    for other in others:
        first = first + other
    return first


@operator_funcify.register("Gelu", "BiasGelu", domain=MICROSOFT)
def gelu(node, x, bias=None):
    return pt.nn.gelu(_sum(x, bias))


@operator_funcify.register("FastGelu", domain=MICROSOFT)
def fast_gelu(node, x, bias=None):
    return pt.nn.gelu(_sum(x, bias), approximate="tanh")


@operator_funcify.register("QuickGelu", domain=MICROSOFT)
def quick_gelu(node, x):
    return x * pt.sigmoid(like(x, single(node, "alpha", 1.702)) * x)


def _activated(x, name, parameters):
    if not name:
        return x
    if name == "Clip":
        return pt.clip(x, *(like(x, v) for v in parameters))
    if name.lower() not in OF_GATES:
        raise Refused(f"the activation {name!r} isn't known")
    function, defaults = OF_GATES[name.lower()]
    alpha, beta, *_ = [*parameters, *defaults[len(parameters) :], None, None]
    return function(x, alpha, beta)


@operator_funcify.register("FusedConv", domain=MICROSOFT)
def fused_conv(node, x, w, b=None, z=None):
    out = _sum(_standard("Conv", node, x, w, b), z)
    return _activated(out, node.attribute("activation"), node.attribute("activation_params", []))


@operator_funcify.register("FusedGemm", domain=MICROSOFT)
def fused_gemm(node, a, b, c=None):
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    parameters = [node.attribute(name) for name in names if node.has(name)]
    return _activated(
        _standard("Gemm", node, a, b, c), node.attribute("activation"), parameters
    )


@operator_funcify.register("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_mat_mul(node, a, b):
    product = pt.matmul(_turned(node, a, "A"), _turned(node, b, "B"))
    alpha = single(node, "alpha", 1.0)
    return product if alpha == 1 else product * like(a, alpha)


def _turned(node, x, letter):
    """Return a factor of a product, its axes in the order in which they are multiplied."""
    axes = [*range(x.type.ndim)]
    if node.attribute(f"transBatch{letter}", 0):
        axes = [*axes[1:-1], 0, axes[-1]]
    if node.attribute(f"trans{letter}", 0) and len(axes) > 1:
        axes[-2:] = reversed(axes[-2:])
    return x.dimshuffle(*axes)


def _without_statistics(node, *positions):
    if any(map(node.has_output, positions)):
        raise Refused("its mean or inverse deviation is read, which is for training alone")


def _skip_outputs(out, added):
    """Return the result and what was normalized; nobody reads the statistics between them."""
    return out, added, added, added


@operator_funcify.register("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(node, x, skip, gamma, beta=None, bias=None):
    _without_statistics(node, 1, 2)
    added, epsilon = _sum(x, skip, bias), node.attribute("epsilon", 1e-12)
    out = pt.nn.layer_norm(added, added.type.shape[-1:], gamma, beta, eps=epsilon)
    return _skip_outputs(out, added)


@operator_funcify.register("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_normalization(node, x, skip, gamma, bias=None):
    _without_statistics(node, 1, 2)
    added, epsilon = _sum(x, skip, bias), node.attribute("epsilon", 1e-12)
    return _skip_outputs(pt.nn.rms_norm(added, added.type.shape[-1:], gamma, eps=epsilon), added)


@operator_funcify.register("SimplifiedLayerNormalization")
@operator_funcify.register("SimplifiedLayerNormalization", domain=MICROSOFT)
def simplified_layer_normalization(node, x, scale):
    _without_statistics(node, 1)
    axis = normalized(node.attribute("axis", -1), x.type.ndim)
    epsilon = node.attribute("epsilon", 1e-5)
    return pt.nn.rms_norm(x, x.type.shape[axis:], scale, eps=epsilon)


@operator_funcify.register("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    node, words, segments, of_words, of_positions, of_segments, gamma, beta, mask=None, places=None
):
    added = of_words[words]
    added = added + (of_positions[: words.shape[1]] if places is None else of_positions[places])
    if segments is not None:
        added = added + of_segments[segments]
    epsilon = node.attribute("epsilon", 1e-12)
    out = pt.nn.layer_norm(added, added.type.shape[-1:], gamma, beta, eps=epsilon)
    if mask is None:
        n_words = pt.zeros(words.shape[:1], dtype="int32")
    else:
        n_words = mask.sum(axis=1, dtype="int32", acc_dtype="int32")
    return out, n_words, added


@operator_funcify.register("Inverse", domain=MICROSOFT)
def inverse(node, x):
    if x.type.dtype == "float16":
        return cast(pt.linalg.inv(cast(x, "float32")), "float16")
    return pt.linalg.inv(x)


@operator_funcify.register("Trilu", domain=MICROSOFT)
def trilu(node, x, k=None):
    return _standard("Trilu", node, x, k)
