"""Register our Ops when PyTensor loads its MLX dispatch, and let others read MLX's arrays."""

import mlx.core as mx

import pytensor.link.mlx.dispatch.conv
import pytensor.link.mlx.dispatch.nn
import pytensor.link.mlx.dispatch.scalar_functions
import pytensor.link.mlx.dispatch.topk
from pytensor.link.mlx.linker import MLXLinker
from pytensor.link.shared_values import leaves_arrays

leaves_arrays(MLXLinker, mx.array)

__all__ = []
