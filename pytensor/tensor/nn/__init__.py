"""Functions of neural networks, with the names, arguments and numbers of `torch.nn.functional`.

The first argument is `x`; what PyTorch's own calls write by position is taken by position, the rest
by name.
"""

from difflib import get_close_matches
from typing import Any

from pytensor.tensor.nn.activations import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from pytensor.tensor.nn.attention import (
    scaled_dot_product_attention,
)
from pytensor.tensor.nn.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from pytensor.tensor.nn.ctc import (
    ctc_loss,
)
from pytensor.tensor.nn.distances import (
    cosine_similarity,
    normalize,
    pairwise_distance,
)
from pytensor.tensor.nn.dropouts import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from pytensor.tensor.nn.images import (
    affine_grid,
    fold,
    grid_sample,
    local_response_norm,
    pad,
    pixel_shuffle,
    pixel_unshuffle,
    unfold,
    upsample,
)
from pytensor.tensor.nn.interpolation import (
    interpolate,
)
from pytensor.tensor.nn.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from pytensor.tensor.nn.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    rms_norm,
)
from pytensor.tensor.nn.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    global_avg_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from pytensor.tensor.nn.projections import (
    bilinear,
    embedding,
    linear,
    one_hot,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "global_avg_pool",
    "global_lp_pool",
    "global_max_pool",
    "glu",
    "grid_sample",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "unfold",
    "upsample",
]

# Where something is that users of PyTorch look for here
ELSEWHERE = {
    "conv2d_transpose": "pt.nn.conv_transpose2d",
    "functional": "pt.nn",
    "multi_head_attention_forward": "pt.nn.scaled_dot_product_attention",
    "swish": "pt.nn.silu",
    **{name: f"pt.{name}" for name in ("einsum", "exp", "logsumexp", "topk")},
}


def __getattr__(name: str) -> Any:
    message = f"module 'pytensor.tensor.nn' has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(message)
    if name[0].isupper():
        raise AttributeError(f"{message}: it has functions; layers are in pytensor.layers")
    if name in ELSEWHERE:
        raise AttributeError(f"{message}: use {ELSEWHERE[name]}")
    near = get_close_matches(name, __all__, 3, 0.6)
    hint = f"; the nearest are {', '.join(near)}" if near else ""
    raise AttributeError(f"{message}{hint}")
