"""Compare operators in mode JAX with `jax.lax` calls, and in mode NUMBA with SciPy and NumPy.

    python -m benchmarks.package.operators [--only conv2d] [--rounds 40] [--torch] [--record]

Each side is compiled once, gets the same arrays, and runs in turn with the others; a figure is a
ratio of medians, below 1 where ours is faster.  Results are compared before anything is timed.

With `--torch`, PyTorch's eager functions are a third side of what mode JAX computes.  Its gradients
start from a finished forward pass, whose saved values they use; the other sides compute again what
they need.
"""

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.signal import correlate

import benchmarks.common.float32  # noqa: F401, before pytensor
import pytensor
import pytensor.tensor as pt
from benchmarks.common import results
from benchmarks.common.step_sides import torch_like_jax
from benchmarks.common.timing import alternate
from tests.catalogue.layers import LAYERS


def with_gradients(build, arguments):
    """Return PyTensor's output, and its vector-Jacobian product for each argument."""
    cotangent = build(*arguments)
    weights = cotangent.type("weights")
    gradients = pt.grad(None, arguments, known_grads={cotangent: weights})
    numbered = {f"grad {k}": gradient for k, gradient in enumerate(gradients, start=1)}
    return weights, {"forward": cotangent, **numbered}


def jax_vjp(function, number):
    def gradient(*arguments, weights):
        def of_one(value):
            return function(*arguments[:number], value, *arguments[number + 1 :])

        return jax.vjp(of_one, arguments[number])[1](weights)[0]

    return gradient


def torch_runs(function, values, cotangent):
    """Return callables by what they compute: ``"forward"``, ``"grad 1"`` and so on."""
    torch, device = torch_like_jax()
    arguments = [torch.tensor(v, device=device, requires_grad=True) for v in values]
    weights = torch.tensor(cotangent, device=device)
    result = function(*arguments)

    def finished(tensor):
        if device.type == "cuda":
            torch.cuda.synchronize()
        return tensor

    def forward():
        with torch.no_grad():
            return finished(function(*arguments))

    def gradient(argument):
        return finished(torch.autograd.grad(result, argument, weights, retain_graph=True)[0])

    gradients = {f"grad {k}": partial(gradient, a) for k, a in enumerate(arguments, start=1)}
    return {"forward": forward, **gradients}


def check_results(sides, message):
    """Compare what the sides compute with `jax.lax`.

    Raises
    ------
    AssertionError
        If a result differs by more than rounding.
    """
    results = {name: run() for name, run in sides.items()}
    results = {n: np.asarray(v.cpu() if hasattr(v, "cpu") else v) for n, v in results.items()}
    # On a GPU the sides may choose different algorithms, in TF32.
    relative = 1e-5 if jax.default_backend() == "cpu" else 5e-3
    scale = np.abs(results["lax"]).max()
    for name, value in results.items():
        np.testing.assert_allclose(
            value, results["lax"], atol=relative * scale, err_msg=f"{message}, {name}"
        )


def compare_jax(name, build, function, values, in_torch=None):
    """Return callables {what: {side: run}} for the value and each gradient, on the same arrays."""
    arguments = [pt.tensor(shape=v.shape, dtype=v.dtype) for v in values]
    weights, graphs = with_gradients(build, arguments)
    host_values, values = values, [jnp.asarray(v) for v in values]
    shape = jax.eval_shape(function, *values).shape
    cotangent = np.random.default_rng(1).normal(size=shape).astype("float32")
    others = torch_runs(in_torch, host_values, cotangent) if in_torch else {}
    cotangent = jnp.asarray(cotangent)
    pairs = {}
    for number, (what, graph) in enumerate(graphs.items(), start=-1):
        backward = number >= 0
        inputs = [*arguments, weights] if backward else arguments
        ours = pytensor.function(
            inputs, graph, mode="JAX", trust_input=True, on_unused_input="ignore"
        )
        theirs = jax.jit(jax_vjp(function, number) if backward else function)
        extra = (cotangent,) if backward else ()
        keywords = {"weights": cotangent} if backward else {}
        sides = {
            "ours": lambda ours=ours, extra=extra: jax.block_until_ready(ours(*values, *extra)),
            "lax": lambda theirs=theirs, keywords=keywords: jax.block_until_ready(
                theirs(*values, **keywords)
            ),
        }
        if others:
            sides["torch"] = others[what]
        check_results(sides, f"{name}, {what}")
        pairs[what] = sides
    return pairs


def jax_convolution(stride, padding, dilation, groups):
    return partial(
        jax.lax.conv_general_dilated, window_strides=(stride,) * 2, padding=[(padding,) * 2] * 2,
        rhs_dilation=(dilation,) * 2, feature_group_count=groups,
    )  # fmt: skip


def in_torch(layer):
    return partial(layer.call, torch_like_jax()[0].nn.functional, **layer.arguments)


def conv2d_sides(with_torch):
    for name, layer in LAYERS.items():
        if name.startswith("conv2d ") and layer.arguments:
            function, values = jax_convolution(**layer.arguments), layer.values("float32")
            theirs = in_torch(layer) if with_torch else None
            yield name, compare_jax(name, layer.build, function, values, theirs)


def window(x, init, op, size, stride, pad):
    pads = [(0, 0)] * 2 + [(pad, pad)] * 2
    return jax.lax.reduce_window(
        x, np.float32(init), op, (1, 1, size, size), (1, 1, stride, stride), pads
    )


def spatial_norm(x, gamma, beta):
    mean = x.mean((0, 2, 3), keepdims=True)
    variance = x.var((0, 2, 3), keepdims=True)
    scale = jax.lax.rsqrt(variance + 1e-3) * gamma[:, None, None]
    return (x - mean) * scale + beta[:, None, None]


def last_norm(x):
    # Not rsqrt: jaxlib 0.12.0 compiles its gradient wrongly for arrays of this size on a CPU
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def group_norm(x, scale, bias):
    groups = x.reshape(len(x), 8, -1)
    normalized = last_norm(groups).reshape(x.shape)
    return normalized * scale[:, None, None] + bias[:, None, None]


def rms_norm(x):
    return x / jnp.sqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)


def transposed(x, filters):
    """Transpose a convolution, with kernels 4x4 and a padding of 1: it doubles the size."""
    return jax.lax.conv_general_dilated(
        x, jnp.flip(filters, (2, 3)).swapaxes(0, 1), (1, 1), [(2, 2)] * 2, lhs_dilation=(2, 2)
    )


def doubled(method):
    def resized(x):
        return jax.image.resize(x, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), method)

    return resized


def other_sides(with_torch):
    functions = other_torch_functions() if with_torch else {}
    for name, case in other_cases().items():
        yield name, compare_jax(name, *case, functions.get(name))


JAX_FUNCTIONS = {
    "conv1d": lambda x, w: jax.lax.conv_general_dilated(x, w, (1,), [(1, 1)]),
    "conv3d": lambda x, w: jax.lax.conv_general_dilated(x, w, (1,) * 3, [(1, 1)] * 3),
    "conv2d_transpose x2": transposed,
    "max_pool2d 2x2": lambda x: window(x, -np.inf, jax.lax.max, 2, 2, 0),
    "max_pool2d 5x5, stride 1": lambda x: window(x, -np.inf, jax.lax.max, 5, 1, 2),
    "avg_pool2d 2x2": lambda x: window(x, 0, jax.lax.add, 2, 2, 0) / 4,
    "resize nearest x2": doubled("nearest"),
    "resize linear x2": doubled("linear"),
    "batch_normalization_train": spatial_norm,
    "layer_normalization": last_norm,
    "rms_normalization": rms_norm,
    "group_normalization, 8 groups": group_norm,
    "silu": jax.nn.silu,
    "gelu": partial(jax.nn.gelu, approximate=False),
}


def other_cases():
    """Return functions in PyTensor and in JAX, and arguments, by name."""
    layers = {name: LAYERS[name] for name in JAX_FUNCTIONS}
    rows = np.random.default_rng(0).normal(size=(240, 2100)).astype("float32")
    return {
        name: (layer.build, JAX_FUNCTIONS[name], layer.values("float32"))
        for name, layer in layers.items()
    } | {
        "global_average_pool": (
            pt.nn.global_avg_pool,
            lambda x: x.mean((2, 3), keepdims=True),
            LAYERS["silu"].values("float32"),
        ),
        "topk 10 of 2100": (
            lambda x: pt.topk(x, 10)[0],
            lambda x: jax.lax.top_k(x, 10)[0],
            [rows],
        ),
    }


def other_torch_functions():
    """Return PyTorch's functions by the names of `other_cases`."""
    F = torch_like_jax()[0].nn.functional
    return {name: in_torch(LAYERS[name]) for name in JAX_FUNCTIONS} | {
        "global_average_pool": partial(F.adaptive_avg_pool2d, output_size=1),
        "topk 10 of 2100": lambda x: x.topk(10)[0],
    }


def scipy_conv(image, filters):
    image = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.stack(
        [[correlate(example, kernel, "valid")[0] for kernel in filters] for example in image]
    )


def numpy_conv(image, filters):
    image = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))
    return np.tensordot(windows, filters, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def numpy_pool(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return windows[:, :, ::2, ::2].max((4, 5))


def numba_sides(with_torch):
    rng = np.random.default_rng(0)
    image = rng.normal(size=(2, 16, 40, 40)).astype("float32")
    filters = rng.normal(size=(32, 16, 3, 3)).astype("float32")
    arguments = [pt.tensor4("image"), pt.tensor4("filters")]
    conv = pytensor.function(arguments, LAYERS["conv2d 3x3"].build(*arguments), mode="NUMBA")
    pool = pytensor.function(arguments[:1], pt.nn.max_pool2d(arguments[0], 3, 2), mode="NUMBA")
    cases = {
        "conv2d 3x3, SciPy": (lambda: conv(image, filters), lambda: scipy_conv(image, filters)),
        "conv2d 3x3, NumPy": (lambda: conv(image, filters), lambda: numpy_conv(image, filters)),
        "max_pool2d 3x3, NumPy": (lambda: pool(image), lambda: numpy_pool(image)),
    }
    for name, (ours, theirs) in cases.items():
        np.testing.assert_allclose(ours(), theirs(), rtol=1e-3, atol=1e-4)
        yield f"NUMBA: {name}", {"forward": {"ours": ours, "other": theirs}}


GROUPS = {"conv2d": conv2d_sides, "others": other_sides, "numba": numba_sides}


def ratio_line(times):
    """Return the milliseconds of each side, and ours as a ratio to each of the others."""
    ours, *others = times.items()
    words = [f"{ours[0]} {ours[1]:8.2f} ms"]
    words += [f"{name} {ms:8.2f} ms ({ours[1] / ms:.2f} times)" for name, ms in others]
    return ", ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=GROUPS, action="append", help="may be given repeatedly")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--torch", action="store_true", help="PyTorch as a third side")
    results.add_options(parser, json=False)
    options = parser.parse_args()
    figures = {}
    for group in options.only or GROUPS:
        for name, pairs in GROUPS[group](options.torch):
            for what, sides in pairs.items():
                times = {k: t["median_ms"] for k, t in alternate(sides, options.rounds).items()}
                ours = times.pop("ours")
                figures[f"{name}, {what}"] = {f"to {n}": ours / ms for n, ms in times.items()}
                print(f"{name:29} {what:8} {ratio_line(times)}", flush=True)
    results.save(options, None, {"ratio": figures})


if __name__ == "__main__":
    main()
