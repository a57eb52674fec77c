"""The weights of a YOLO11n in an ONNX file, whatever the file calls them.

A convolution of the file is known by its kernel, its stride and the convolutions before and after
it, near and far: no two of a YOLO11n have the same surroundings.
"""

import ast
from collections import defaultdict

import numpy as np
import onnx
from blocks import BN_EPSILON
from model import YOLO11n
from training.checkpoint import CheckpointError

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import from_onnx
from pytensor.tensor.batchnorm import BatchNormalization
from pytensor.tensor.conv.ops import Conv
from pytensor.tensor.elemwise import DimShuffle

ROUNDS = 8  # after 7, all convolutions are told apart
# Size s has as many as n, with more channels, which the arrays tell.
CONVOLUTIONS = {"n": 87, "m": 112, "l": 173}


def read_onnx(path):
    """Read (arrays by name, info) of an ONNX file, as of a weight file.

    Exporters fold batch normalization into filters and a bias.  What is returned for it changes
    nothing but adds the bias, so that predictions are the file's; before a training see
    `measure_normalizations`.

    Raises
    ------
    CheckpointError
        If the file can't be read, or its convolutions aren't a YOLO11n's.
    """
    try:
        nodes = list(toposort(from_onnx(path).outputs.values()))
        metadata = onnx.load(path, load_external_data=False).metadata_props
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (OSError, ValueError, NotImplementedError) as error:
        reason = str(error).removeprefix(f"from_onnx: {path}: ")
        raise CheckpointError(f"{path}: {reason}") from error
    found = by_surroundings(nodes)
    size = min(CONVOLUTIONS, key=lambda size: abs(CONVOLUTIONS[size] - len(found)))
    model = YOLO11n(1, size=size)
    images = pt.tensor("images", dtype="float32", shape=(1, 3, 64, 64))
    own = by_surroundings(toposort(model(images).values()))
    if lost := [node.inputs[1].name for key, node in own.items() if key not in found]:
        raise CheckpointError(
            f"{path}: not a YOLO11{size}: {len(lost)} of its {len(own)} convolutions are missing "
            f"or connected otherwise, first {lost[0]}"
        )
    clients = defaultdict(list)
    for node in nodes:
        for variable in node.inputs:
            clients[variable].append(node)
    arrays = model.state_dict()  # where the constants are
    for key, node in own.items():
        layer = node.inputs[1].name.removesuffix(".weight")
        arrays[f"{layer}.weight"], bias = folded(found[key], clients, f"{path}: {layer}")
        if not layer.endswith(".conv"):  # the last ones of the head, which aren't normalized
            arrays[f"{layer}.bias"] = bias
            continue
        normalization = layer.removesuffix("conv") + "bn"
        arrays[f"{normalization}.weight"] = np.full_like(bias, np.sqrt(1 + BN_EPSILON))
        arrays[f"{normalization}.bias"] = bias
        arrays[f"{normalization}.running_mean"] = np.zeros_like(bias)
        arrays[f"{normalization}.running_var"] = np.ones_like(bias)
    return arrays, {"folded": True} | read_metadata(path, {p.key: p.value for p in metadata})


def by_surroundings(nodes):
    """Return the convolutions among nodes in order, each by a number for what is around it."""
    sources, before, after = {}, {}, defaultdict(list)
    for node in nodes:
        found = set().union(*(sources.get(v, ()) for v in node.inputs))
        # That of fixed weights, the mean of a distribution over bins, is a product in our graph.
        if isinstance(node.op, Conv) and node.inputs[1].type.shape != (1, 16, 1, 1):
            before[node] = found
            for other in found:
                after[other].append(node)
            found = {node}
        sources.update(dict.fromkeys(node.outputs, found))
    keys = {
        node: hash((node.inputs[1].type.shape[2:], node.op.subsample, node.op.num_groups == 1))
        for node in before
    }

    def around(node, near):
        return tuple(sorted(keys[other] for other in near[node]))

    for _ in range(ROUNDS):
        keys = {n: hash((key, around(n, before), around(n, after))) for n, key in keys.items()}
    return {key: node for node, key in keys.items()}


def folded(node, clients, name):
    """Return a convolution's filters and bias, with all folded in that follows it per channel."""
    out, filters = node.outputs[0], node.inputs[1]
    if not isinstance(filters, Constant):
        raise CheckpointError(f"{name}: its filters are computed when the model runs")
    filters = filters.data.astype(np.float64)
    bias = np.zeros(len(filters))
    while len(clients[out]) == 1:
        [client] = clients[out]
        values = [per_channel(v, len(bias)) for v in client.inputs if v is not out]
        if any(value is None for value in values):
            break
        if isinstance(client.op, BatchNormalization):
            gamma, beta, mean, variance = values
            factor = gamma / np.sqrt(variance + client.op.epsilon)
            filters, bias = filters * factor[:, None, None, None], (bias - mean) * factor + beta
        elif client.op == pt.add:
            bias = bias + values[0]
        else:
            break
        [out] = client.outputs
    if out is node.outputs[0]:
        raise CheckpointError(f"{name}: neither a bias nor a normalization follows it")
    return filters.astype(np.float32), bias.astype(np.float32)


def per_channel(variable, channels):
    """Return the values of a constant with an entry for each channel, or None if it isn't one."""
    if variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        [variable] = variable.owner.inputs
    if isinstance(variable, Constant) and variable.data.size == channels:
        return variable.data.ravel().astype(np.float64)
    return None


def read_metadata(path, metadata):
    """Read the names of classes and the size of images, as exports of YOLO say them."""
    info = {}
    try:
        if "names" in metadata:
            names = ast.literal_eval(metadata["names"])
            info["classes"] = [str(names[row]) for row in range(len(names))]
        if "imgsz" in metadata:
            info["image_size"] = max(ast.literal_eval(metadata["imgsz"]))
    except (ValueError, SyntaxError, TypeError, LookupError) as error:
        raise CheckpointError(f"{path}: its names or imgsz can't be read ({error})") from error
    return info


def measure_normalizations(model, images):
    """Make the normalizations of an inference graph fit for training, by images.

    In training they divide by the deviation of a batch, whatever the running statistics are.  So
    these become the means and variances that RGB images, uint8 (batch, 3, size, size), have, and
    scale and shift undo them: predictions stay the same, and where training begins, it computes
    what the inference graph did.
    """
    x = pt.tensor("images", dtype="float32", shape=images.shape)
    nodes = [n for n in toposort(model(x).values()) if isinstance(n.op, BatchNormalization)]
    inputs, axes = [node.inputs[0] for node in nodes], (0, 2, 3)
    moments = [[v.mean(axis=axes) for v in inputs], [v.var(axis=axes) for v in inputs]]
    measure = pytensor.function([x], moments[0] + moments[1], mode=jax_mode())
    values = [np.asarray(v) for v in measure(images.astype(np.float32) / np.float32(255))]
    means, variances = values[: len(nodes)], values[len(nodes) :]
    for node, mean, variance in zip(nodes, means, variances, strict=True):
        parameters = node.inputs[1:]
        gamma, beta, old_mean, old_variance = (v.get_value() for v in parameters)
        scale = gamma / np.sqrt(old_variance + node.op.epsilon)
        new = [scale * np.sqrt(variance + node.op.epsilon), beta + (mean - old_mean) * scale]
        for variable, value in zip(parameters, [*new, mean, variance], strict=True):
            variable.set_value(value.astype(np.float32))
