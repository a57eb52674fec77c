"""Fine-tune an ONNX file whose structure nobody knows: its last layers, or a new one at a cut.

    python finetune_onnx.py                        # a network made here learns other digits
    python finetune_onnx.py MODEL.onnx             # lists its weights and tensors
    python finetune_onnx.py MODEL.onnx --data DATA.npz --last 2  # or --train "head.*"
    python finetune_onnx.py MODEL.onnx --data DATA.npz --last 1 --cut TENSOR

DATA.npz has `x`, rows as the model's input takes them, and `y`, an entry for each: if integers,
classes, of which the output has scores or probabilities; else values that the output shall have.
"""

import argparse
import fnmatch
from pathlib import Path
from zipfile import BadZipFile

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
add = parser.add_argument
add("model", nargs="?", help="an ONNX file of one input; without, one is made")
add("--data", metavar="NPZ", help="file with x and y; a fifth of it is to test with")
add("--last", type=int, default=1, help="how many layers to train, from the end (1)")
add("--train", metavar="PATTERN", help="names of the weights to train, instead of --last")
add("--cut", metavar="TENSOR", help="where a new last layer begins, for the classes in y")
add("--steps", type=int, default=300)
add("--out", default="tuned.onnx")
o = parser.parse_args()
for path in filter(None, [o.model, o.data]):  # answered before the imports, which take seconds
    if not Path(path).is_file():
        parser.error(f"{path} does not exist")
if Path(o.out).is_dir() or not Path(o.out).absolute().parent.is_dir():
    parser.error(f"--out {o.out} is a folder, or in one that does not exist; give a file's name")

import numpy as np
import onnx
import onnxruntime
from google.protobuf.message import DecodeError

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx, from_onnx
from pytensor.optimizers import Adam

onnxruntime.set_default_logger_severity(3)  # old files list their weights as inputs, too
WITH_WEIGHTS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "GRU", "LSTM", "RNN"}
FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE}


def layers(graph):
    """Return lists of names: the weights of each layer, and what is used up to the next layer's."""
    unused = {t.name for t in graph.initializer if t.data_type in FLOATS and np.prod(t.dims) > 1}
    found = []
    for node in graph.node:
        # Behind the first three are running statistics, which no gradient finds.
        inputs = node.input[:3] if node.op_type == "BatchNormalization" else node.input
        new = [name for name in inputs if name in unused]
        unused.difference_update(new)
        if node.op_type in WITH_WEIGHTS and new:
            found.append(new)
        elif found:
            found[-1] += new
    return found


def with_shape(name, graph):
    """Return the name of a tensor, and its shape as far as a graph tells."""
    for value in (*graph.value_info, *graph.output):
        kind = value.type.tensor_type
        if value.name == name and kind.HasField("shape"):
            lengths = [each.dim_param or str(each.dim_value or "?") for each in kind.shape.dim]
            return f"{name} ({', '.join(lengths)})"
    return name


def new_head(features, classes):
    """Return scores by a new layer, which begins with zeros, and its weights; averages places."""
    features = features.mean(axis=tuple(range(2, features.type.ndim)))
    if (width := features.type.shape[1]) is None:
        raise SystemExit("the model doesn't say how many channels the tensor of the cut has")
    shapes = {"head.weight": (width, classes), "head.bias": (classes,)}
    zeros = {name: np.zeros(shape, features.type.dtype) for name, shape in shapes.items()}
    weight, bias = (pytensor.shared(v, name=k, shape=v.shape) for k, v in zeros.items())
    return features @ weight + bias, [weight, bias]


def fit(x, output, parameters, data, steps, updates=None, rate=3e-3, batch=50):
    """Train shared variables on arrays (x, y)."""
    classes = data[1].dtype == "int64"
    if classes:
        ends_in_softmax = output.owner and isinstance(output.owner.op, pt.special.Softmax)
        output = pt.log(output if ends_in_softmax else pt.special.softmax(output, axis=1))
    if x.type.shape[0] == 1:  # as many files are: apply the graph to each row of a batch
        rows = pt.tensor("x", dtype=x.type.dtype, shape=(batch, *x.type.shape[1:]))
        x, output = rows, vectorize_graph(output, {x: rows[:, None]})[:, 0]
    batch = x.type.shape[0] or batch
    y = pt.tensor("y", dtype=data[1].dtype, shape=(batch, *data[1].shape[1:]))
    if classes:
        loss = -output[np.arange(batch), y].mean()
    else:
        loss = pt.sqr(output - y).mean()
    updates = (updates or {}) | Adam(rate).get_updates(parameters, pt.grad(loss, parameters))
    step = pytensor.function([x, y], loss, updates=updates, mode=jax_mode())
    choices = np.random.default_rng(0).integers(len(data[0]), size=(steps, batch))
    for rows in choices:
        step(data[0][rows], data[1][rows])


def quality(path, data, size, name=None):
    """Return what an output of a file is worth: accuracy, or the mean squared error."""
    session = onnxruntime.InferenceSession(path)
    [given] = session.get_inputs()
    x, y = (array[: len(array) // size * size] for array in data)
    parts = np.split(x, len(x) // size)
    names = None if name is None else [name]
    found = [row for part in parts for row in session.run(names, {given.name: part})[0]]
    # A classifier of scikit-learn's may give each row as a dict of its classes.
    found = np.array([[*row.values()] if isinstance(row, dict) else row for row in found])
    if y.dtype == "int64":
        return f"accuracy {np.mean(found.argmax(axis=1) == y):.3f}"
    return f"mean squared error {np.mean((found - y) ** 2):.4g}"


def digits(path):
    """Export a network for the digits 0 to 4; data of the others, and where to cut it."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, 1, 8, 8).astype("float32") / 16
    rng = np.random.default_rng(1)
    x = pt.tensor("images", shape=(None, 1, 8, 8), dtype="float32")
    h, parameters, channels = x, [], 1
    for number, width in enumerate([16, 32]):
        filters = rng.normal(size=(width, channels, 3, 3)) / np.sqrt(4.5 * channels)
        filters = pytensor.shared(filters.astype("float32"), shape=filters.shape)
        filters.name = f"conv{number}.weight"
        h = pt.nn.max_pool2d(pt.nn.silu(pt.nn.conv2d(h, filters, padding="same")), 2)
        parameters, channels = [*parameters, filters], width
    scores, head = new_head(h, 5)
    seen = labels < 5
    fit(x, scores, parameters + head, (images[seen], labels[seen]), 300)
    graph = export_onnx(x, scores, path).graph
    cut = [node.output[0] for node in graph.node if node.op_type == "MaxPool"][-1]
    return {"x": images[~seen], "y": labels[~seen] - 5}, cut


try:
    data = o.data and np.load(o.data)
except (ValueError, BadZipFile) as error:
    parser.error(f"{o.data} can't be read: {error}")
if o.model is None:
    o.model = "digits.onnx"
    data, o.cut = digits(o.model)
try:
    model = onnx.load(o.model)
except DecodeError:
    parser.error(f"{o.model} is no ONNX model, or a file that was cut off")
if data is None:
    for node in (known := onnx.shape_inference.infer_shapes(model).graph).node:
        print(f"{node.op_type}: {', '.join(with_shape(name, known) for name in node.output)}")
    print(*(f"layer: {', '.join(names)}" for names in layers(model.graph)), sep="\n")
    raise SystemExit
if o.cut:
    model = onnx.shape_inference.infer_shapes(model)
    if all(o.cut not in node.output for node in model.graph.node):
        parser.error(f"no node of {o.model} gives {o.cut}; without --data, tensors are listed")
    model = onnx.utils.Extractor(model).extract_model([*from_onnx(model).inputs], [o.cut])
known = layers(model.graph)
weights = [name for layer in known for name in layer]
last = [name for layer in known[max(len(known) - o.last, 0) :] for name in layer]
trained = fnmatch.filter(weights, o.train) if o.train else last
network = from_onnx(model, trainable=trained)
[x] = network.inputs.values()
# A classifier of scikit-learn's has its labels first, which no gradient leaves.
floats = [k for k, v in network.outputs.items() if v.type.dtype.startswith("float")]
if not floats:
    parser.error(f"{o.cut or o.model} gives no numbers of floating point, so it has no gradient")
name, output = floats[0], network.outputs[floats[0]]
parameters = [network.parameters[name] for name in trained]
size = x.type.shape[0] or 1
if missing := {"x", "y"} - {*data}:
    parser.error(f"{o.data} has no {missing.pop()}")
if len(data["x"]) != len(data["y"]):
    parser.error(f"{o.data} has {len(data['x'])} rows of x and {len(data['y'])} entries of y")
row, expected = data["x"].shape[1:], x.type.shape[1:]
if len(row) != len(expected) or any(k not in (None, n) for k, n in zip(expected, row, strict=True)):
    parser.error(f"x in {o.data} is {data['x'].shape}; the model's input is {x.type.shape}")
if data["y"].dtype.kind not in "iuf":
    parser.error(f"y in {o.data} is of dtype {data['y'].dtype}; give classes as integers from 0 on")
if data["y"].dtype.kind in "iu":
    count = data["y"].max() + 1 if o.cut else output.type.shape[-1] or np.inf
    if not 0 <= data["y"].min() <= data["y"].max() < count:
        parser.error(f"y in {o.data} has classes outside of 0 to {count - 1}")
elif data["y"].ndim != output.type.ndim:
    parser.error(f"y in {o.data} is {data['y'].shape}, the output {output.type.shape}; classes "
                 "are integers")  # fmt: skip
kind = "int64" if data["y"].dtype.kind in "iu" else output.type.dtype
data = [data["x"].astype(x.type.dtype), data["y"].astype(kind)]
order = np.random.default_rng(0).permutation(len(data[0]))
train, test = zip(*(np.split(v[order], [len(order) * 4 // 5]) for v in data), strict=True)
if o.cut:
    output, head = new_head(output, data[1].max() + 1)
    parameters += head
else:
    print(f"{o.model}: {quality(o.model, test, size, name)}")
if not parameters:
    parser.error(
        f"nothing to train; the weights are {', '.join(weights)}"
        if weights else f"nothing to train: the nodes of {o.model} have no tensors as weights"
    )  # fmt: skip
print(f"training {', '.join(v.name for v in parameters)} for {o.steps} steps")
if (x.type.shape[0] or 1) > 1:
    print(f"the file takes {x.type.shape[0]} of {len(train[0])} rows a step (--steps: how many)")
fit(x, output, parameters, train, o.steps, network.updates)
name = "scores" if o.cut else name
export_onnx(x, output, o.out, output_names=[name], verify=[test[0][:size]])
print(f"{o.out}: {quality(o.out, test, size)}")
if left := [other for other in network.outputs if other != name and not o.cut]:
    print(f"{o.out} has the output {name} and not {', '.join(left)}")
