"""Time of `vectorize_graph`'s batches compared with the same batches written manually.

    python -m benchmarks.package.vectorized [--modes JAX,NUMBA,ONNX] [--turns 100] [--record]

A network of two convolutions, for a batch of batches of images and for a batch of weights, and the
gradients for the weights.  Both forms are called in turns.  The figures are medians of processor
time, in milliseconds, which other work on the machine disturbs least, and their ratio.
"""

import argparse
import statistics
import time

import numpy as np

import pytensor
import pytensor.tensor as pt
from benchmarks.common import results
from pytensor.graph.replace import vectorize_graph

BATCH, IMAGES, CHANNELS, SIDE = 8, 4, 16, 32


def tensor(*shape):
    return pt.tensor(shape=shape, dtype="float32")


def network(x, first, second, groups=1):
    """Return outputs (images, channels * groups) of as many networks as `groups`, side by side."""
    h = pt.silu(pt.conv2d(x, first, border_mode="half", filter_flip=False))
    h = pt.nn.max_pool2d(h, 2)
    h = pt.conv2d(h, second, border_mode="half", filter_flip=False, num_groups=groups)
    return pt.silu(h).mean(axis=(2, 3), dtype="float32", acc_dtype="float32")


def cases():
    """Return by name: the inputs, what `vectorize_graph` makes, and the same written manually."""
    x, first, second = (
        tensor(IMAGES, 3, SIDE, SIDE), tensor(CHANNELS, 3, 3, 3), tensor(CHANNELS, CHANNELS, 3, 3)
    )  # fmt: skip
    out = network(x, first, second)
    xs, firsts, seconds = (tensor(BATCH, *v.type.shape) for v in (x, first, second))
    of_images = vectorize_graph(out, {x: xs})
    of_weights = vectorize_graph(out, {first: firsts, second: seconds})
    images = network(xs.reshape((BATCH * IMAGES, *x.type.shape[1:])), first, second)
    images = images.reshape((BATCH, IMAGES, CHANNELS))
    flat = [v.reshape((BATCH * CHANNELS, *v.type.shape[2:])) for v in (firsts, seconds)]
    weights = network(x, *flat, BATCH).reshape((IMAGES, BATCH, CHANNELS)).dimshuffle(1, 0, 2)

    def gradients(out, wrt):
        return pytensor.grad((out**2).sum(dtype="float32", acc_dtype="float32"), wrt)

    wrt, wrts = [first, second], [firsts, seconds]
    return {
        "images": ([xs, *wrt], of_images, images),
        "images, gradients": ([xs, *wrt], gradients(of_images, wrt), gradients(images, wrt)),
        "weights": ([x, *wrts], of_weights, weights),
        "weights, gradients": ([x, *wrts], gradients(of_weights, wrts), gradients(weights, wrts)),
    }


def call(function, values):
    """Return the processor's seconds for one call, results fetched, and the results."""
    start = time.process_time()
    results = function(*values)
    results = [np.asarray(r) for r in (results if isinstance(results, list) else [results])]
    return time.process_time() - start, results


def compare(mode, name, turns):
    """Check that both forms of a case agree, time them, print a line, and return it."""
    inputs, *outputs = cases()[name]
    functions = [pytensor.function(inputs, out, mode=mode) for out in outputs]
    rng = np.random.default_rng(0)
    values = [rng.normal(size=v.type.shape).astype("float32") for v in inputs]
    both = [call(f, values)[1] for f in functions]
    for made, by_hand in zip(*both, strict=True):
        np.testing.assert_allclose(made, by_hand, rtol=2e-3, atol=2e-3)
    times = [[call(f, values)[0] for f in functions] for _ in range(turns)]
    made, by_hand = (1e3 * statistics.median(each) for each in zip(*times, strict=True))
    print(f"{mode:6} {name:20} {made:8.2f} {by_hand:8.2f} ms {made / by_hand:6.2f}", flush=True)
    return {"vectorize_graph, ms": made, "written manually, ms": by_hand}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", default="JAX,NUMBA,ONNX")
    parser.add_argument("--turns", type=int, default=100)
    results.add_options(parser, json=False)
    options = parser.parse_args()
    figures = {
        mode: {name: compare(mode, name, options.turns) for name in cases()}
        for mode in options.modes.split(",")
    }
    results.save(options, None, figures)


if __name__ == "__main__":
    main()
