"""A user's program, which mypy and pyright read in `.ci/types`; nothing runs it.

Each line with "type: ignore" is a mistake that both must find: an unneeded one is an error too.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import assert_type

import numpy as np
import onnx

import pytensor.tensor as pt
from pytensor.compile.maker import function
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.link.jax import jax_mode, reseed
from pytensor.link.onnx import export_onnx, from_onnx
from pytensor.optimizers import SGD, clip_by_global_norm, schedules
from pytensor.optimizers.updates import OrderedUpdates
from pytensor.tensor import TensorVariable


def network(images: TensorVariable, filters: SharedVariable) -> TensorVariable:
    out = pt.nn.conv2d(images, filters, stride=(2, 1), padding="same")
    out = pt.nn.relu(pt.nn.layer_norm(out, 8))
    out = pt.nn.max_pool2d(out, 2) + pt.nn.avg_pool2d(np.ones((1, 1, 2, 2)), kernel_size=2)
    out = pt.conv2d(out, filters, border_mode="half", filter_flip=False)
    return pt.resize(out, scale=2, mode="linear")


def train(images: TensorVariable, cost: TensorVariable, filters: SharedVariable) -> None:
    rate = schedules.warmup(schedules.cosine(100), steps=10)
    gradients, norm = clip_by_global_norm(pt.grad(cost, [filters]), 10.0)
    updates = SGD(rate(0), momentum=0.9).get_updates([filters], gradients)
    assert_type(updates, OrderedUpdates)
    f = function([images], [cost, norm], updates=updates, mode=jax_mode(precision="bf16"))
    reseed(f, 1)
    reseed(filters, [1, 2])


def export(images: TensorVariable, filters: SharedVariable) -> dict[str, Variable]:
    model = export_onnx([images], [network(images, filters)], "model.onnx", checks="error")
    assert_type(model, onnx.ModelProto)
    return from_onnx(model, trainable=True).inputs


def mistakes(images: TensorVariable, filters: SharedVariable) -> None:
    pt.conv2d(images, filters, boarder_mode="half")  # type: ignore[call-arg]
    pt.conv2d(images, filters, border_mode="same")  # type: ignore[arg-type]
    pt.conv2d(images)  # type: ignore[call-arg]
    pt.conv2d_(images, filters)  # type: ignore[attr-defined]
    pt.nn.gelu(images, approximate="erf")  # type: ignore[arg-type]
    SGD("0.1")  # type: ignore[arg-type]
    jax_mode(precision="float16")  # type: ignore[arg-type]
    reseed(filters, "1.5")  # type: ignore[arg-type]
    export_onnx([images], [images], opset="20")  # type: ignore[call-arg]
