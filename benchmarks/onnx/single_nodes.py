"""Is one ONNX node faster than the nodes it stands for?  Decides what the exporter writes.

    python -m benchmarks.onnx.single_nodes [--rounds 100] [--json OUT]

Prints, for each operator, the time of the single node as a ratio to the spelled-out form: both in
onnxruntime on one thread, run in turn, medians.  Below 1 the node is faster.
"""

import argparse
import json
import platform

import numpy as np
import onnxruntime

from benchmarks.common.timing import alternate
from pytensor.link.onnx.ir import Value
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.link.onnx.write.serialize import to_model

IMAGES, TOKENS = (1, 64, 80, 80), (8, 128, 768)
GROUPS = 32


class Writer:
    """Adds float32 nodes to a graph; numbers become constants."""

    def __init__(self, opset):
        self.builder = GraphBuilder(opset)

    def __call__(self, op_type, *inputs, **attributes):
        names = [x if isinstance(x, str) else self.builder.constant(x) for x in inputs]
        return self.builder.add(op_type, *names, **attributes)


def number(value):
    return np.float32(value)


def gelu(add, x):
    half = add("Add", add("Erf", add("Mul", x, number(np.sqrt(0.5)))), number(1))
    return add("Mul", add("Mul", x, number(0.5)), half)


def gelu_tanh(add, x):
    cubic = add("Add", add("Mul", add("Mul", x, x), number(0.044715)), number(1))
    inner = add("Mul", add("Mul", x, cubic), number(np.sqrt(2 / np.pi)))
    return add("Mul", add("Mul", x, number(0.5)), add("Add", add("Tanh", inner), number(1)))


def elu(add, x):
    decay = add("Sub", add("Exp", add("Min", x, number(0))), number(1))
    return add("Where", add("Greater", x, number(0)), x, decay)


def normalized(add, x, axes, centred=True):
    axes = np.array(axes)
    if centred:
        x = add("Sub", x, add("ReduceMean", x, axes))
    variance = add("ReduceMean", add("Mul", x, x), axes)
    return add("Div", x, add("Sqrt", add("Add", variance, number(1e-5))))


def scaled(add, x, parameter):
    return add("Add", add("Mul", x, parameter), parameter)


def group(add, x):
    grouped = add("Reshape", x, np.array([0, GROUPS, -1]))
    ones = np.ones(GROUPS, "float32")
    y = add("InstanceNormalization", grouped, ones, 0 * ones, epsilon=1e-5)
    return scaled(add, add("Reshape", y, np.array(IMAGES)), CHANNELS[:, None, None])


CHANNELS = np.linspace(0.5, 1.5, IMAGES[1], dtype="float32")
FEATURES = np.linspace(0.5, 1.5, TOKENS[2], dtype="float32")
# name: opset, shape, the node, what it stands for
FORMS = {
    "Gelu": (20, IMAGES, lambda a, x: a("Gelu", x), gelu),
    "Gelu (tanh)": (20, IMAGES, lambda a, x: a("Gelu", x, approximate="tanh"), gelu_tanh),
    "HardSwish": (
        18, IMAGES, lambda a, x: a("HardSwish", x),
        lambda a, x: a("Mul", x, a("HardSigmoid", x, alpha=1 / 6, beta=0.5)),
    ),
    "LeakyRelu": (
        18, IMAGES, lambda a, x: a("LeakyRelu", x, alpha=0.1),
        lambda a, x: a("Max", x, a("Mul", x, number(0.1))),
    ),
    "Softsign": (
        18, IMAGES, lambda a, x: a("Softsign", x),
        lambda a, x: a("Div", x, a("Add", a("Abs", x), number(1))),
    ),
    "Elu": (18, IMAGES, lambda a, x: a("Elu", x), elu),
    "Mish": (
        18, IMAGES, lambda a, x: a("Mish", x),
        lambda a, x: a("Mul", x, a("Tanh", a("Softplus", x))),
    ),
    "Swish": (
        24, IMAGES, lambda a, x: a("Swish", x), lambda a, x: a("Mul", x, a("Sigmoid", x))
    ),
    "LayerNormalization": (
        18, TOKENS, lambda a, x: a("LayerNormalization", x, FEATURES, FEATURES, epsilon=1e-5),
        lambda a, x: scaled(a, normalized(a, x, [-1]), FEATURES),
    ),
    "RMSNormalization": (
        23, TOKENS, lambda a, x: a("RMSNormalization", x, FEATURES, epsilon=1e-5),
        lambda a, x: a("Mul", normalized(a, x, [-1], centred=False), FEATURES),
    ),
    "InstanceNormalization": (
        18, IMAGES, lambda a, x: a("InstanceNormalization", x, CHANNELS, CHANNELS, epsilon=1e-5),
        lambda a, x: scaled(a, normalized(a, x, [2, 3]), CHANNELS[:, None, None]),
    ),
    "GroupNormalization": (
        21, IMAGES,
        lambda a, x: a("GroupNormalization", x, CHANNELS, CHANNELS, num_groups=GROUPS),
        group,
    ),
}  # fmt: skip


def session(opset, shape, write):
    add = Writer(opset)
    graph = add.builder.graph
    x = graph.add_input("x", "float32", shape)
    y = write(add, x)
    graph.outputs = [y]
    graph.values[y] = Value("float32", (None,) * len(shape))
    model = to_model(graph, opset=opset, model_name="form")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", help="file to write the result to")
    options = parser.parse_args()
    result = {"machine": platform.processor() or platform.machine(), "ratios": {}}
    for name, (opset, shape, node, spelled) in FORMS.items():
        feed = {"x": np.random.default_rng(0).normal(0, 2, shape).astype("float32")}
        sides = {k: session(opset, shape, f) for k, f in (("node", node), ("spelled", spelled))}
        results = [side.run(None, feed)[0] for side in sides.values()]
        np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)
        times = alternate(
            {k: lambda side=side, feed=feed: side.run(None, feed) for k, side in sides.items()},
            options.rounds,
        )
        node_ms, spelled_ms = (times[k]["median_ms"] for k in ("node", "spelled"))
        result["ratios"][name] = node_ms / spelled_ms
        print(f"{name:22} {node_ms:6.2f} / {spelled_ms:6.2f} ms = {node_ms / spelled_ms:.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)


if __name__ == "__main__":
    main()
