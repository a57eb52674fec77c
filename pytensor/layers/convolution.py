"""Layers of convolutions; arguments, names and start values are PyTorch's."""

import math
from typing import Any

import pytensor.tensor as pt
from pytensor.layers import init
from pytensor.layers.module import Module, parameter
from pytensor.tensor import TensorLike
from pytensor.tensor.conv.basic import Ints, per_axis
from pytensor.tensor.nn.convolution import Padding, Pairs
from pytensor.tensor.variable import TensorVariable


class _Filters(Module):
    """Filters over `ndim` axes, and how they are applied."""

    ndim: int
    transposed = False

    def _make(
        self, in_channels: int, out_channels: int, kernel_size: Ints, groups: int, bias: bool,
        **how: Any,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: groups must divide the channels, {in_channels} and {out_channels}; "
                f"got {groups}"
            )
        ends = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        kernel = per_axis(f"{name}: kernel_size", kernel_size, self.ndim)
        shape = (ends[0], ends[1] // groups, *kernel)
        start = init.uniform(1 / math.sqrt(max(init.fans(shape)[0], 1)))
        self.weight = parameter(shape, start)
        self.bias = parameter((out_channels,), start) if bias else None
        self.how = how | {"groups": groups}

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Map (batch, in channels, ...) to (batch, out channels, ...)."""
        kind = "conv_transpose" if self.transposed else "conv"
        function = getattr(pt.nn, f"{kind}{self.ndim}d")
        return function(x, self.weight, self.bias, **self.how)


class _Conv(_Filters):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
        padding: Padding = 0, dilation: Ints = 1, groups: int = 1, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(
            in_channels, out_channels, kernel_size, groups, bias, stride=stride, padding=padding,
            dilation=dilation,
        )  # fmt: skip


class _ConvTranspose(_Filters):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
        padding: Pairs = 0, output_padding: Ints = 0, groups: int = 1, bias: bool = True,
        dilation: Ints = 1,
    ) -> None:  # fmt: skip
        self._make(
            in_channels, out_channels, kernel_size, groups, bias, stride=stride, padding=padding,
            output_padding=output_padding, dilation=dilation,
        )  # fmt: skip


class Conv1d(_Conv):
    """Convolve sequences by `pytensor.tensor.nn.conv1d`, which describes the arguments."""

    ndim = 1


class Conv2d(_Conv):
    """Convolve images by `pytensor.tensor.nn.conv2d`, which describes the arguments.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> images = pt.tensor("images", shape=(None, 3, 32, 32))
    >>> layers.Conv2d(3, 8, kernel_size=3, padding=1, stride=2)(images).type.shape
    (None, 8, 16, 16)
    """

    ndim = 2


class Conv3d(_Conv):
    """Convolve volumes by `pytensor.tensor.nn.conv3d`, which describes the arguments."""

    ndim = 3


class ConvTranspose1d(_ConvTranspose):
    """Convolve by `pytensor.tensor.nn.conv_transpose1d`, which describes the arguments."""

    ndim = 1


class ConvTranspose2d(_ConvTranspose):
    """Convolve by `pytensor.tensor.nn.conv_transpose2d`, which describes the arguments."""

    ndim = 2


class ConvTranspose3d(_ConvTranspose):
    """Convolve by `pytensor.tensor.nn.conv_transpose3d`, which describes the arguments."""

    ndim = 3
