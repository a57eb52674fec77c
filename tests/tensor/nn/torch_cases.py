"""Drawn calls of `torch.nn.functional`, and PyTorch's results of them; PyTensor isn't needed.

    python tests/tensor/nn/torch_cases.py

records two numbers of each result in ``torch_results.json``, for machines without PyTorch.
"""

import json
from pathlib import Path

import numpy as np

FUNCTIONS = {}
DRAWS = 4
RECORD = Path(__file__).with_name("torch_results.json")
# How many of the arrays have a batch axis, which PyTorch can do without
BATCHED = {"conv": 1, "conv_transpose": 1, "max_pool": 1, "avg_pool": 1, "lp_pool": 1}
BATCHED |= {"max_unpool": 2, "adaptive_avg_pool": 1, "adaptive_max_pool": 1}


def draws(*names):
    """Register how arguments are drawn: arrays, which go by position, and the others by name."""

    def register(draw):
        FUNCTIONS.update(dict.fromkeys(names, draw))
        return draw

    return register


def case(name, number):
    """Return the arrays and the other arguments of a function's drawn call of that number.

    Calls of odd numbers have one image without a batch, where PyTorch takes it.
    """
    rng = np.random.default_rng([number, *name.encode()])
    arrays, how = FUNCTIONS[name](rng, name)
    single = BATCHED.get(name[:-2], 0) if number % 2 else 0
    return [v[0] if i < single else v for i, v in enumerate(arrays)], how


def axes(name):
    return next((int(c) for c in name if c in "123"), 2)


def per_axis(rng, n, low, high):
    """Draw one number for all axes, or one for each."""
    if rng.random() < 0.3:
        return int(rng.integers(low, high + 1))
    return tuple(int(v) for v in rng.integers(low, high + 1, size=n))


def lengths(rng, n, low=5, high=9):
    return tuple(int(v) for v in rng.integers(low, high + 1, size=n))


def maybe(rng, value):
    return value if rng.random() < 0.5 else None


@draws("conv1d", "conv2d", "conv3d")
def conv(rng, name):
    n, groups = axes(name), int(rng.integers(1, 3))
    kernel = lengths(rng, n, 1, 3)
    x = rng.normal(size=(2, 2 * groups, *lengths(rng, n)))
    weight = rng.normal(size=(3 * groups, 2, *kernel))
    bias = maybe(rng, rng.normal(size=3 * groups))
    how = {"dilation": per_axis(rng, n, 1, 2), "groups": groups}
    padding = ("same", "valid", per_axis(rng, n, 0, 2))[rng.integers(3)]
    if padding != "same":
        how["stride"] = per_axis(rng, n, 1, 3)
    return [x, weight, bias], {"padding": padding, **how}


@draws("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(rng, name):
    n, groups = axes(name), int(rng.integers(1, 3))
    x = rng.normal(size=(2, 2 * groups, *lengths(rng, n, 3, 5)))
    weight = rng.normal(size=(2 * groups, 3, *lengths(rng, n, 2, 3)))
    bias = maybe(rng, rng.normal(size=3 * groups))
    how = {"stride": per_axis(rng, n, 2, 3), "padding": per_axis(rng, n, 0, 1)}
    how |= {"dilation": per_axis(rng, n, 1, 2), "output_padding": per_axis(rng, n, 0, 1)}
    return [x, weight, bias], {**how, "groups": groups}


def windows(rng, n):
    kernel = lengths(rng, n, 2, 3)
    how = {"kernel_size": kernel, "ceil_mode": bool(rng.integers(2))}
    if rng.random() < 0.7:
        how["stride"] = per_axis(rng, n, 1, 3)
    return how


@draws("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(rng, name):
    n = axes(name)
    how = windows(rng, n) | {"padding": per_axis(rng, n, 0, 1), "dilation": per_axis(rng, n, 1, 2)}
    how["return_indices"] = bool(rng.integers(2))
    return [rng.normal(size=(2, 3, *lengths(rng, n)))], how


@draws("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(rng, name):
    n = axes(name)
    how = windows(rng, n) | {"padding": per_axis(rng, n, 0, 1)}
    how["count_include_pad"] = bool(rng.integers(2))
    if n > 1 and rng.random() < 0.4:
        how["divisor_override"] = int(rng.integers(1, 9))
    return [rng.normal(size=(2, 3, *lengths(rng, n)))], how


@draws("lp_pool1d", "lp_pool2d", "lp_pool3d")
def lp_pool(rng, name):
    n, p = axes(name), (1, 2, 3, 1.5)[rng.integers(4)]
    x = rng.normal(size=(2, 3, *lengths(rng, n)))
    how = windows(rng, n)
    if n == 1:
        how["kernel_size"] = how["kernel_size"][0]
    return [x if p in (1, 2) else np.abs(x)], {"norm_type": p, **how}


@draws("max_unpool1d", "max_unpool2d", "max_unpool3d")
def max_unpool(rng, name):
    n = axes(name)
    shape = (2, 3, *lengths(rng, n, 2, 3))
    out = tuple(2 * m for m in shape[2:])
    rows = [rng.permutation(np.prod(out))[: np.prod(shape[2:])] for _ in range(6)]
    indices = np.reshape(rows, shape)
    return [rng.normal(size=shape), indices], {"kernel_size": 2, "output_size": out}


@draws("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(rng, name):
    n = axes(name)
    return [rng.normal(size=(2, 3, *lengths(rng, n)))], {"output_size": per_axis(rng, n, 1, 5)}


@draws("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(rng, name):
    arrays, how = adaptive_avg_pool(rng, name)
    return arrays, {**how, "return_indices": bool(rng.integers(2))}


def channels_and_statistics(rng):
    x = rng.normal(1, 2, size=(3, 4, *lengths(rng, int(rng.integers(1, 3)), 3, 5)))
    mean, var, weight, bias = rng.normal(size=4), rng.uniform(0.5, 2, 4), *rng.normal(size=(2, 4))
    return x, mean, var, maybe(rng, weight), maybe(rng, bias)


@draws("batch_norm")
def batch_norm(rng, name):
    x, mean, var, weight, bias = channels_and_statistics(rng)
    training = bool(rng.integers(2))
    if training and rng.random() < 0.4:
        mean = var = None
    how = {"training": training, "momentum": rng.uniform(0, 1), "eps": rng.uniform(1e-5, 1)}
    return [x, mean, var, weight, bias], how


@draws("instance_norm")
def instance_norm(rng, name):
    x, mean, var, weight, bias = channels_and_statistics(rng)
    how = {"use_input_stats": bool(rng.integers(2)), "momentum": rng.uniform(0, 1)}
    if how["use_input_stats"] and rng.random() < 0.5:
        mean = var = None
    return [x, mean, var, weight, bias], {**how, "eps": rng.uniform(1e-5, 1)}


@draws("group_norm")
def group_norm(rng, name):
    x, _, _, weight, bias = channels_and_statistics(rng)
    bias = None if weight is None else bias  # PyTorch 2.13 fails with a bias alone
    return [x], {"num_groups": int(rng.choice([1, 2, 4])), "weight": weight, "bias": bias}


@draws("layer_norm", "rms_norm")
def layer_norm(rng, name):
    x = rng.normal(1, 2, size=(2, 3, 4))
    shape = x.shape[int(rng.integers(3)) :]
    how = {"normalized_shape": shape, "weight": maybe(rng, rng.normal(size=shape))}
    if name == "layer_norm":
        how["bias"] = maybe(rng, rng.normal(size=shape))
    if rng.random() < 0.5:
        how["eps"] = rng.uniform(1e-5, 1)
    return [x], how


MODES = {1: ("linear",), 2: ("bilinear", "bicubic"), 3: ("trilinear",)}


def factor(rng, length, how):
    """Draw a factor; not one for which PyTorch's gradients aren't those of its results.

    Nor one that leaves a single cell: its antialias mixes the axes up there.
    """
    linear = how["mode"].endswith("linear") and "antialias" not in how
    while True:
        f = rng.choice([1.05, rng.uniform(0.4, 2.6)]).item()
        if int(length * f) > 1 and (linear or int(length * f) not in (length, 2 * length)):
            return f


@draws("interpolate 1", "interpolate 2", "interpolate 3")
def interpolate(rng, name):
    n = axes(name)
    mode = rng.choice(("nearest", "nearest-exact", "area", *2 * MODES[n])).item()
    x = rng.normal(size=(2, 2, *lengths(rng, n, 3, 7)))
    how = {"mode": mode}
    if mode in MODES[n]:
        if n == 2 and rng.random() < 0.4:
            how["antialias"] = True
        else:
            how["align_corners"] = (None, True, False)[rng.integers(3)]
    if rng.random() < 0.5:
        how["size"] = per_axis(rng, n, 2 if "antialias" in how else 1, 11)
    else:
        how["scale_factor"] = tuple(factor(rng, m, how) for m in x.shape[2:])
        how["recompute_scale_factor"] = (None, True, False)[rng.integers(3)]
    return [x], how


@draws("relu", "relu6", "selu", "silu", "mish", "hardsigmoid", "hardswish", "softsign")
def activation(rng, name):
    borders = [[-6.0, -3.0, -0.0, 0.0, 3.0, 6.0, 1e3]]
    return [np.append(rng.normal(0, 4, size=(3, 7)), borders, axis=0)], {}


@draws("gelu", "elu", "leaky_relu")
def activation_with_parameter(rng, name):
    arrays, _ = activation(rng, name)
    how = {"gelu": {"approximate": ("none", "tanh")[rng.integers(2)]}}
    how |= {"elu": {"alpha": rng.uniform(0.2, 2)}}
    return arrays, how.get(name, {"negative_slope": rng.uniform(0, 0.5)})


@draws("prelu")
def prelu(rng, name):
    shape = ((2, 3, 4, 5), (2, 3), (6,), (2, 3, 1))[rng.integers(4)]
    channels = shape[1] if len(shape) > 1 and rng.random() < 0.7 else 1
    return [rng.normal(size=shape), rng.normal(size=channels)], {}


@draws("sigmoid", "logsigmoid", "tanh", "tanhshrink")
def smooth_activation(rng, name):
    return [rng.normal(0, 4, size=(3, 7))], {}


@draws("softplus", "hardtanh", "celu", "softshrink", "hardshrink", "threshold", "rrelu", "glu")
def activation_with_parameters(rng, name):
    arrays = [rng.normal(0, 2, size=(4, 6))]
    names = {"softplus": ("beta", "threshold"), "hardtanh": ("min_val", "max_val")}
    names |= {"celu": ("alpha",), "softshrink": ("lambd",), "hardshrink": ("lambd",)}
    names |= {"threshold": ("threshold", "value"), "rrelu": ("lower", "upper")}
    if name == "glu":
        return arrays, {"dim": int(rng.integers(-2, 2))}
    values = sorted(rng.uniform(0.2, 2, size=2))
    if name == "softplus":
        values[1] = rng.uniform(0.5, 5)
    return arrays, dict(zip(names[name], values, strict=False))


@draws("softmax", "log_softmax", "softmin")
def along_an_axis(rng, name):
    shape = lengths(rng, int(rng.integers(1, 4)), 2, 5)
    return [rng.normal(0, 5, size=shape)], {"dim": int(rng.integers(-len(shape), len(shape)))}


@draws("linear")
def linear(rng, name):
    x = rng.normal(size=(*lengths(rng, int(rng.integers(0, 3)), 1, 4), 5))
    if rng.random() < 0.2:
        return [x, rng.normal(size=5)], {}
    return [x, rng.normal(size=(3, 5)), maybe(rng, rng.normal(size=3))], {}


@draws("bilinear")
def bilinear(rng, name):
    first = lengths(rng, int(rng.integers(1, 3)), 1, 4)
    arrays = [rng.normal(size=(*first, 3)), rng.normal(size=(*first, 4))]
    return [*arrays, rng.normal(size=(2, 3, 4)), maybe(rng, rng.normal(size=2))], {}


@draws("embedding")
def embedding(rng, name):
    x = rng.integers(0, 7, size=lengths(rng, int(rng.integers(0, 3)), 1, 4))
    return [x, rng.normal(size=(7, 3))], {"padding_idx": (None, 2, -1)[rng.integers(3)]}


@draws("one_hot")
def one_hot(rng, name):
    x = rng.integers(0, 7, size=lengths(rng, int(rng.integers(0, 3)), 1, 4))
    return [x], {"num_classes": (-1, 7, 9)[rng.integers(3)]}


@draws("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
def dropout(rng, name):
    """Without a generator; what is drawn can only be compared by distribution."""
    shape = lengths(rng, {"1": 3, "2": 4, "3": 5}.get(name[-2], 3), 2, 3)
    return [rng.normal(size=shape)], {"p": rng.uniform(0, 1), "training": False}


REDUCTIONS = ("mean", "sum", "none")


def reduction(rng):
    return {"reduction": REDUCTIONS[rng.integers(3)]}


@draws("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss")
def pointwise_loss(rng, name):
    x, target = map(np.asarray, rng.normal(size=(2, *lengths(rng, int(rng.integers(0, 4)), 1, 4))))
    how = {"smooth_l1_loss": {"beta": rng.choice([0, 0.5, 2]).item()}}
    how |= {"huber_loss": {"delta": rng.uniform(0.3, 2)}}
    if name == "soft_margin_loss":
        target = np.where(target > 0, 1, -1)
    return [x, target], how.get(name, {}) | reduction(rng)


@draws("cross_entropy", "nll_loss")
def classes(rng, name):
    shape = ((5,), (4, 5), (2, 5, 3), (2, 5, 2, 3))[rng.integers(4)]
    axis = min(1, len(shape) - 1)
    how = {"weight": maybe(rng, rng.uniform(0.2, 2, size=5)), **reduction(rng)}
    x = rng.normal(0, 3, size=shape)
    if name == "cross_entropy":
        how["label_smoothing"] = rng.choice([0, rng.uniform(0, 1)]).item()
        if rng.random() < 0.3:
            target = rng.uniform(0, 1, size=shape)
            return [x, target / target.sum(axis, keepdims=True)], how
    target = rng.integers(0, 5, size=shape[:axis] + shape[axis + 1 :])
    how["ignore_index"] = (-100, int(target.flat[0] + 1) % 5, -100)[rng.integers(3)]
    if target.ndim and rng.random() < 0.3:
        target[0], how["ignore_index"] = -7, -7
        target[-1] = 3
    return [x, target], how


@draws("multi_margin_loss")
def multi_margin_loss(rng, name):
    shape = ((5,), (4, 5))[rng.integers(2)]
    how = {"p": int(rng.integers(1, 3)), "margin": rng.uniform(0.2, 2), **reduction(rng)}
    how["weight"] = maybe(rng, rng.uniform(0.2, 2, size=5))
    return [rng.normal(size=shape), rng.integers(0, 5, size=shape[:-1])], how


@draws("binary_cross_entropy", "binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")
def binary_loss(rng, name):
    shape = (*lengths(rng, int(rng.integers(0, 3)), 1, 4), 3)
    x = rng.uniform(size=shape) if name == "binary_cross_entropy" else rng.normal(0, 9, size=shape)
    how = {"weight": maybe(rng, rng.uniform(size=shape)), **reduction(rng)}
    if name.endswith("logits"):
        how["pos_weight"] = maybe(rng, rng.uniform(0.2, 3, size=3))
    return [x, rng.uniform(size=shape)], how


@draws("kl_div")
def kl_div(rng, name):
    how = {"reduction": (*REDUCTIONS, "batchmean")[rng.integers(4)]}
    how["log_target"] = bool(rng.integers(2))
    x, target = np.log(rng.uniform(size=(2, *lengths(rng, int(rng.integers(1, 4)), 1, 4))))
    return [x, target if how["log_target"] else np.exp(target)], how


@draws("cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss")
def pair_loss(rng, name):
    x1, x2 = rng.normal(size=(2, *((4, 3), (5,))[rng.integers(2)]))
    target = rng.choice([-1, 1], size=x1.shape)
    how = {"margin": rng.uniform(0, 1), **reduction(rng)}
    if name == "cosine_embedding_loss":
        target = target[..., 0]
    return [x1, target] if name == "hinge_embedding_loss" else [x1, x2, target], how


@draws("triplet_margin_loss")
def triplet_margin_loss(rng, name):
    points = rng.normal(size=(3, *((4, 3), (5,), (2, 3, 2))[rng.integers(3)]))
    how = {"margin": rng.uniform(0.5, 3), "p": (1, 2, 3, 1.5)[rng.integers(4)]}
    return list(points), {**how, "swap": bool(rng.integers(2)), **reduction(rng)}


@draws("poisson_nll_loss")
def poisson_nll_loss(rng, name):
    how = {"log_input": bool(rng.integers(2)), "full": bool(rng.integers(2)), **reduction(rng)}
    x = rng.normal(size=(4, 3)) if how["log_input"] else rng.uniform(0.1, 3, size=(4, 3))
    return [x, 1.0 + rng.poisson(2, size=(4, 3))], how


@draws("gaussian_nll_loss")
def gaussian_nll_loss(rng, name):
    x, target = rng.normal(size=(2, 4, 3))
    var = rng.uniform(0, 2, size=((4, 3), (4, 1), (4,))[rng.integers(3)])
    var.flat[0] = 1e-9
    how = {"full": bool(rng.integers(2)), "eps": rng.uniform(1e-3, 1), **reduction(rng)}
    return [x, target, var], how


@draws("cosine_similarity", "pairwise_distance", "normalize")
def distances(rng, name):
    x1, x2 = rng.normal(size=(2, *lengths(rng, int(rng.integers(1, 4)), 2, 4)))
    dim = int(rng.integers(-x1.ndim, x1.ndim))
    if name == "cosine_similarity":
        return [x1, x2], {"dim": dim, "eps": rng.choice([1e-8, 1.5]).item()}
    p = (1, 2, 3, 1.5, float("inf"))[rng.integers(5)]
    if name == "normalize":
        return [x1], {"p": p, "dim": dim, "eps": rng.choice([1e-12, 1.5]).item()}
    return [x1, x2], {"p": p, "keepdim": bool(rng.integers(2))}


@draws("pad")
def pad(rng, name):
    mode = ("constant", "reflect", "replicate", "circular")[rng.integers(4)]
    n = int(rng.integers(1, 4))
    x = rng.normal(size=(2, *lengths(rng, n, 3, 5)))
    low, high = (-1, 3) if mode == "constant" else (0, 2)
    how = {"pad": tuple(int(v) for v in rng.integers(low, high + 1, size=2 * n)), "mode": mode}
    if mode == "constant" and rng.random() < 0.5:
        how["value"] = rng.uniform(-1, 1)
    return [x[:, None] if rng.random() < 0.5 else x], how


@draws("pixel_shuffle", "pixel_unshuffle")
def pixels(rng, name):
    r, first = int(rng.integers(1, 4)), lengths(rng, int(rng.integers(0, 3)), 1, 3)
    if name == "pixel_shuffle":
        return [rng.normal(size=(*first, 2 * r**2, *lengths(rng, 2, 1, 3)))], {"upscale_factor": r}
    return [rng.normal(size=(*first, 2, 2 * r, 3 * r))], {"downscale_factor": r}


@draws("local_response_norm")
def local_response_norm(rng, name):
    x = rng.normal(size=(2, int(rng.integers(1, 6)), *lengths(rng, int(rng.integers(1, 4)), 1, 4)))
    how = dict(zip(("alpha", "beta", "k"), rng.uniform(0.3, 2, size=3), strict=True))
    return [x], {"size": int(rng.integers(1, 6)), **how}


def sliding(rng):
    how = {"kernel_size": per_axis(rng, 2, 1, 3), "dilation": per_axis(rng, 2, 1, 2)}
    return how | {"padding": per_axis(rng, 2, 0, 2), "stride": per_axis(rng, 2, 1, 3)}


@draws("unfold", "fold")
def windows_as_columns(rng, name):
    size, how = lengths(rng, 2, 5, 8), sliding(rng)
    if name == "unfold":
        return [rng.normal(size=(2, 3, *size)[int(rng.integers(2)) :])], how
    kernel, counts = how["kernel_size"], []
    for axis, n in enumerate(size):
        k, d, p, s = (v if isinstance(v, int) else v[axis] for v in how.values())
        counts.append((n + 2 * p - d * (k - 1) - 1) // s + 1)
    cells = kernel**2 if isinstance(kernel, int) else kernel[0] * kernel[1]
    shape = (2, 3 * cells, counts[0] * counts[1])
    return [rng.normal(size=shape[int(rng.integers(2)) :])], {"output_size": size, **how}


@draws("affine_grid")
def affine_grid(rng, name):
    n = int(rng.integers(2, 4))
    size = (2, 3, *lengths(rng, n, 1, 4))
    return [rng.normal(size=(2, n, n + 1))], {"size": size, "align_corners": bool(rng.integers(2))}


@draws("grid_sample")
def grid_sample(rng, name):
    n = int(rng.integers(2, 4))
    modes = ("bilinear", "nearest", "bicubic")[: 5 - n]
    how = {"mode": modes[rng.integers(len(modes))]}
    how["padding_mode"] = ("zeros", "border", "reflection")[rng.integers(3)]
    how["align_corners"] = (None, True, False)[rng.integers(3)]
    grid = rng.uniform(-1.9, 1.9, size=(2, *lengths(rng, n, 1, 4), n))
    return [rng.normal(size=(2, 3, *lengths(rng, n, 1, 5))), grid], how


@draws("upsample")
def upsample(rng, name):
    how = {"size": per_axis(rng, 2, 1, 9), "mode": ("nearest", "bilinear")[rng.integers(2)]}
    return [rng.normal(size=(2, 2, *lengths(rng, 2, 3, 6)))], how


@draws("scaled_dot_product_attention")
def attention(rng, name):
    first, (queries, keys) = lengths(rng, int(rng.integers(0, 3)), 2, 3), lengths(rng, 2, 1, 6)
    how = {"scale": (None, rng.uniform(0.1, 2))[rng.integers(2)]}
    kinds = ("none", "causal", "boolean", "added")
    kind = kinds[rng.integers(4)]
    of_keys = first
    if rng.random() < 0.3:
        first, of_keys, how["enable_gqa"] = (2, 6), (2, (1, 2, 3)[rng.integers(3)]), True
    if kind == "causal":
        how["is_causal"] = True
    elif kind == "boolean":
        how["attn_mask"] = rng.random(size=(queries, keys)) < 0.6
        how["attn_mask"][:, 0] = True
    elif kind == "added":
        how["attn_mask"] = rng.normal(size=(*first, queries, keys))
    query, key = rng.normal(size=(*first, queries, 4)), rng.normal(size=(*of_keys, keys, 4))
    return [query, key, rng.normal(size=(*of_keys, keys, 5))], how


@draws("ctc_loss")
def ctc_loss(rng, name):
    """Draw logits: PyTorch's gradient is with respect to the input of `log_softmax`."""
    frames, batch, labels = (int(rng.integers(*limits)) for limits in ((4, 9), (1, 4), (1, 4)))
    logits = rng.normal(0, 2, size=(frames, batch, 5))
    targets = rng.integers(1, 4, size=(batch, labels))
    how = {"input_lengths": rng.integers(3, frames + 1, size=batch), **reduction(rng)}
    how["target_lengths"] = rng.integers(0, labels + 1, size=batch)
    how |= {"blank": (0, 4)[rng.integers(2)], "zero_infinity": bool(rng.integers(2))}
    if rng.random() < 0.3:
        logits, targets = logits[:, 0], targets[0]
        how |= {"input_lengths": how["input_lengths"][0, ...], "target_lengths": np.array(labels)}
    return [logits, targets], how


def fixed(name, how):
    """Return the arguments of a call, of those by name, for which PyTorch has no gradient."""
    if not name.endswith("_loss") and "entropy" not in name:
        return []
    return [key for key in ("weight", "pos_weight") if how.get(key) is not None]


def weights(shape):
    """Return what each entry of a result counts in the cost that is differentiated."""
    return np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)


def torch_results(name, number):
    """Return PyTorch's results of a drawn call, and the gradients for all arrays of floats.

    The running statistics that it changes in place are results too, as those of the functions here.
    """
    import torch

    arrays, how = case(name, number)

    def tensor(v):
        if not isinstance(v, np.ndarray):
            return v
        return torch.tensor(v, requires_grad=v.dtype.kind == "f")

    values, how = [tensor(v) for v in arrays], {key: tensor(v) for key, v in how.items()}
    how |= {key: how[key].detach() for key in fixed(name, how)}
    statistics = []
    if name in ("batch_norm", "instance_norm"):
        values[1:3] = [v if v is None else v.detach() for v in values[1:3]]
        if how.get("training", how.get("use_input_stats")):
            statistics = [v for v in values[1:3] if v is not None]
    tensors = [v for v in (*values, *how.values()) if isinstance(v, torch.Tensor)]
    wrt = [v for v in tensors if v.requires_grad]
    if name == "ctc_loss":
        values[0] = torch.nn.functional.log_softmax(values[0], -1)
    out = getattr(torch.nn.functional, name.split()[0])(*values, **how)
    outputs = list(out) if isinstance(out, tuple) else [out]
    gradients = []
    if wrt:
        cost = (outputs[0] * torch.tensor(weights(tuple(outputs[0].shape)))).sum()
        gradients = torch.autograd.grad(cost, wrt)
    return [v.detach().numpy() for v in (*outputs, *statistics, *gradients)]


def digest(results):
    """Return of each result the shape, the sum by `weights`, and the sum of the squares."""
    return [
        [list(v.shape), float((v * weights(v.shape)).sum()), float(np.square(v).sum())]
        for v in (np.asarray(result, dtype="float64") for result in results)
    ]


def record():
    lines = [
        f"{json.dumps(name)}: {json.dumps(digest(torch_results(name, 0)))}" for name in FUNCTIONS
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
