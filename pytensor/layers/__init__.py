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
from pytensor.tensor.missing_names import missing_name

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

# What to write for names of `torch.nn` that aren't here
ELSEWHERE = {
    "BCELoss": "it is a function here, pt.nn.binary_cross_entropy",
    "BCEWithLogitsLoss": "it is a function here, pt.nn.binary_cross_entropy_with_logits",
    "DataLoader": "use layers.batches",
    "Flatten": "write lambda x: x.flatten(2)",
    "Identity": "write lambda x: x",
    "ModuleDict": "write a dict of layers as an attribute",
    "ModuleList": "write a list of layers as an attribute",
    "PReLU": "write self.slope = layers.parameter((1,), layers.init.constant(0.25)) and "
    "pt.nn.prelu(x, self.slope)",
    "UpsamplingBilinear2d": "it is a function here, pt.nn.interpolate",
    "UpsamplingNearest2d": "it is a function here, pt.nn.interpolate",
    "functional": "use pt.nn",
    "no_grad": "leave it out; only pytensor.grad and minimize build gradients",
}
_PADDINGS = {
    "Circular": "circular",
    "Constant": "constant",
    "Reflection": "reflect",
    "Replication": "replicate",
    "Zero": "constant",
}
ELSEWHERE |= {
    f"{kind}Pad{n}d": f'it is a function here, pt.nn.pad(x, ..., mode="{mode}")'
    for kind, mode in _PADDINGS.items()
    for n in (1, 2, 3)
}


def __getattr__(name: str) -> Any:
    from pytensor.tensor import nn

    functions = {
        end: f"it is a function here, pt.nn.{function}"
        for function in nn.__all__
        for end in (function, f"{function}_loss")
    }
    raise missing_name(f"module {__name__!r}", name, __all__, functions | ELSEWHERE)
