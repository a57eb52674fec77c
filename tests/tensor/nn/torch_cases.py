"""Drawn calls of `torch.nn.functional`, and what PyTorch makes of them; PyTensor isn't needed."""

import numpy as np

FUNCTIONS = {}
DRAWS = 4
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
    statistics = []
    if name in ("batch_norm", "instance_norm"):
        values[1:3] = [v if v is None else v.detach() for v in values[1:3]]
        if how.get("training", how.get("use_input_stats")):
            statistics = [v for v in values[1:3] if v is not None]
    tensors = [v for v in (*values, *how.values()) if isinstance(v, torch.Tensor)]
    wrt = [v for v in tensors if v.requires_grad]
    out = getattr(torch.nn.functional, name.split()[0])(*values, **how)
    outputs = list(out) if isinstance(out, tuple) else [out]
    cost = (outputs[0] * torch.tensor(weights(tuple(outputs[0].shape)))).sum()
    gradients = torch.autograd.grad(cost, wrt)
    return [v.detach().numpy() for v in (*outputs, *statistics, *gradients)]
