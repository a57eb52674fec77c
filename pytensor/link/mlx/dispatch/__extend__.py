"""Register our Ops when PyTensor loads its MLX dispatch."""

import pytensor.link.mlx.dispatch.conv
import pytensor.link.mlx.dispatch.nn
import pytensor.link.mlx.dispatch.scalar_functions
import pytensor.link.mlx.dispatch.topk

__all__ = []
