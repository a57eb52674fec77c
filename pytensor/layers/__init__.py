"""Layers of neural networks, their training and their files.

>>> import pytensor.tensor as pt
>>> from pytensor import layers
>>> from pytensor.optimizers import AdamW
>>> net = layers.Sequential(layers.Linear(4, 16), pt.nn.relu, layers.Linear(16, 1))
>>> x, y = pt.matrix("x"), pt.matrix("y")
>>> with layers.training() as updates:
...     loss = ((net(x) - y) ** 2).mean()
>>> updates = AdamW(1e-3).minimize(loss, net, updates)
>>> len(updates)  # 4 parameters, 2 moments of each, a counter of steps
13
"""

from difflib import get_close_matches
from typing import Any

from pytensor.layers import init
from pytensor.layers.attention import MultiHeadAttention
from pytensor.layers.basic import Dropout, Embedding, Linear, Sequential
from pytensor.layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from pytensor.layers.files import load, save
from pytensor.layers.loop import batches, fit
from pytensor.layers.module import Module, buffer, generator, parameter, restart
from pytensor.layers.normalization import (
    BatchNorm,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    RMSNorm,
)
from pytensor.layers.overview import summary
from pytensor.layers.recurrent import GRU, LSTM
from pytensor.layers.updates import current_updates, training

__all__ = [
    "GRU",
    "LSTM",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Embedding",
    "GroupNorm",
    "InstanceNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "Linear",
    "Module",
    "MultiHeadAttention",
    "RMSNorm",
    "Sequential",
    "batches",
    "buffer",
    "current_updates",
    "fit",
    "generator",
    "init",
    "load",
    "parameter",
    "restart",
    "save",
    "summary",
    "training",
]


def __getattr__(name: str) -> Any:
    message = f"module 'pytensor.layers' has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(message)
    if name == "Flatten":
        raise AttributeError(f"{message}: write lambda x: x.flatten(2)")
    from pytensor.tensor import nn

    plain = name.lower().removesuffix("loss")
    for function in nn.__all__:
        if function.replace("_", "").removesuffix("loss") == plain:
            raise AttributeError(f"{message}: it is a function here, pt.nn.{function}")
    near = get_close_matches(name, __all__, 3, 0.6)
    hint = f"; the nearest are {', '.join(near)}" if near else ""
    raise AttributeError(f"{message}{hint}")
