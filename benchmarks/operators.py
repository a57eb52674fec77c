"""Operators in mode JAX beside the same `jax.lax` calls, and in mode NUMBA beside SciPy and NumPy.

    python benchmarks/operators.py [--only conv2d] [--rounds 40] [--json OUT]

Each side is compiled once, gets the same arrays, and runs in turn with the others; a figure is a
ratio of medians, below 1 where ours is faster.  Results are compared before anything is timed.
"""

import os

# Before the first import of pytensor, which reads it once.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import argparse
import json
import platform
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from onnx_inference import alternate
from scipy.signal import correlate

import pytensor
import pytensor.tensor as pt

# name: image, filters, stride, padding, dilation, groups
CONVOLUTIONS = {
    "3x3": ((8, 32, 40, 40), (64, 32, 3, 3), 1, 1, 1, 1),
    "3x3, stride 2": ((8, 16, 80, 80), (32, 16, 3, 3), 2, 1, 1, 1),
    "3x3 on RGB": ((8, 3, 160, 160), (16, 3, 3, 3), 2, 1, 1, 1),
    "1x1": ((8, 128, 20, 20), (128, 128, 1, 1), 1, 0, 1, 1),
    "depth-wise 3x3": ((8, 64, 40, 40), (64, 1, 3, 3), 1, 1, 1, 64),
    "4 groups": ((8, 64, 20, 20), (64, 16, 3, 3), 1, 1, 1, 4),
    "dilation 2": ((8, 32, 40, 40), (32, 32, 3, 3), 1, 2, 2, 1),
    "7x7, stride 2": ((4, 3, 112, 112), (32, 3, 7, 7), 2, 3, 1, 1),
}


def with_gradients(build, arguments):
    """A function's output, and its vector-Jacobian product for each argument, in PyTensor."""
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


def compare_jax(name, build, function, values):
    """Callables {what: {side: run}} for the value and each gradient, on the same device arrays."""
    arguments = [pt.tensor(shape=v.shape, dtype=v.dtype) for v in values]
    weights, graphs = with_gradients(build, arguments)
    values = [jnp.asarray(v) for v in values]
    shape = jax.eval_shape(function, *values).shape
    cotangent = jnp.asarray(np.random.default_rng(1).normal(size=shape).astype("float32"))
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
        results = [np.asarray(run()) for run in sides.values()]
        scale = np.abs(results[1]).max()
        np.testing.assert_allclose(*results, atol=1e-5 * scale, err_msg=f"{name}, {what}")
        pairs[what] = sides
    return pairs


def conv2d_sides():
    for name, (image, filters, stride, pad, dilation, groups) in CONVOLUTIONS.items():
        rng = np.random.default_rng(0)
        values = [rng.normal(size=s).astype("float32") for s in (image, filters)]
        build = partial(
            pt.conv2d, border_mode=pad, subsample=stride, filter_dilation=dilation,
            num_groups=groups, filter_flip=False,
        )  # fmt: skip
        function = partial(
            jax.lax.conv_general_dilated, window_strides=(stride,) * 2, padding=[(pad, pad)] * 2,
            rhs_dilation=(dilation,) * 2, feature_group_count=groups,
        )  # fmt: skip
        yield f"conv2d {name}", compare_jax(name, build, function, values)


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


def doubled(method):
    def resized(x):
        return jax.image.resize(x, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), method)

    return resized


def other_sides():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(8, 64, 40, 40)).astype("float32")
    channels = rng.uniform(0.5, 1.5, size=(2, 64)).astype("float32")
    cases = {
        "max_pool2d 2x2": (
            lambda x: pt.max_pool2d(x, 2),
            lambda x: window(x, -np.inf, jax.lax.max, 2, 2, 0), [images],
        ),
        "max_pool2d 5x5, stride 1": (
            lambda x: pt.max_pool2d(x, 5, 1, 2),
            lambda x: window(x, -np.inf, jax.lax.max, 5, 1, 2), [images],
        ),
        "avg_pool2d 2x2": (
            lambda x: pt.avg_pool2d(x, 2),
            lambda x: window(x, 0, jax.lax.add, 2, 2, 0) / 4, [images],
        ),
        "resize nearest x2": (
            lambda x: pt.resize(x, scale=2), doubled("nearest"), [images],
        ),
        "resize linear x2": (
            lambda x: pt.resize(x, scale=2, mode="linear"), doubled("linear"), [images],
        ),
        "batch_normalization_train": (
            lambda *a: pt.batch_normalization_train(*a, axes="spatial", epsilon=1e-3)[0],
            spatial_norm, [images, *channels],
        ),
        "layer_normalization": (
            pt.layer_normalization, last_norm, [images.reshape(8, 1600, 64)],
        ),
        "silu": (pt.silu, jax.nn.silu, [images]),
    }  # fmt: skip
    for name, case in cases.items():
        yield name, compare_jax(name, *case)


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


def numba_sides():
    rng = np.random.default_rng(0)
    image = rng.normal(size=(2, 16, 40, 40)).astype("float32")
    filters = rng.normal(size=(32, 16, 3, 3)).astype("float32")
    arguments = [pt.tensor4("image"), pt.tensor4("filters")]
    conv = pytensor.function(
        arguments, pt.conv2d(*arguments, border_mode=1, filter_flip=False), mode="NUMBA"
    )
    pool = pytensor.function(arguments[:1], pt.max_pool2d(arguments[0], 3, 2), mode="NUMBA")
    cases = {
        "conv2d 3x3, SciPy": (lambda: conv(image, filters), lambda: scipy_conv(image, filters)),
        "conv2d 3x3, NumPy": (lambda: conv(image, filters), lambda: numpy_conv(image, filters)),
        "max_pool2d 3x3, NumPy": (lambda: pool(image), lambda: numpy_pool(image)),
    }
    for name, (ours, theirs) in cases.items():
        np.testing.assert_allclose(ours(), theirs(), rtol=1e-3, atol=1e-4)
        yield f"NUMBA: {name}", {"forward": {"ours": ours, "other": theirs}}


GROUPS = {"conv2d": conv2d_sides, "others": other_sides, "numba": numba_sides}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=GROUPS, action="append", help="may be given repeatedly")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", help="file to write the result to")
    options = parser.parse_args()
    result = {
        "machine": platform.processor() or platform.machine(),
        "device": str(jax.devices()[0]),
        "jax": jax.__version__,
        "medians_ms": {},
    }
    for group in options.only or GROUPS:
        for name, pairs in GROUPS[group]():
            for what, sides in pairs.items():
                times = {k: t["median_ms"] for k, t in alternate(sides, options.rounds).items()}
                result["medians_ms"][f"{name}, {what}"] = times
                ours, other = times.values()
                print(f"{name:28} {what:8} {ours:8.2f} / {other:8.2f} ms = {ours / other:.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)


if __name__ == "__main__":
    main()
