# isort: off
from pytensor.link.onnx.dispatch.basic import onnx_funcify

import pytensor.link.onnx.dispatch.activations
import pytensor.link.onnx.dispatch.advanced_subtensor
import pytensor.link.onnx.dispatch.arange
import pytensor.link.onnx.dispatch.argmax
import pytensor.link.onnx.dispatch.batchnorm
import pytensor.link.onnx.dispatch.blas
import pytensor.link.onnx.dispatch.blockwise
import pytensor.link.onnx.dispatch.careduce
import pytensor.link.onnx.dispatch.checks
import pytensor.link.onnx.dispatch.choose
import pytensor.link.onnx.dispatch.conv
import pytensor.link.onnx.dispatch.conv_grad
import pytensor.link.onnx.dispatch.diagonal
import pytensor.link.onnx.dispatch.elemwise
import pytensor.link.onnx.dispatch.extra_ops
import pytensor.link.onnx.dispatch.fft
import pytensor.link.onnx.dispatch.ifelse
import pytensor.link.onnx.dispatch.inc_subtensor
import pytensor.link.onnx.dispatch.linalg
import pytensor.link.onnx.dispatch.math
import pytensor.link.onnx.dispatch.normalization
import pytensor.link.onnx.dispatch.pad
import pytensor.link.onnx.dispatch.pool
import pytensor.link.onnx.dispatch.pool_grad
import pytensor.link.onnx.dispatch.random
import pytensor.link.onnx.dispatch.resize
import pytensor.link.onnx.dispatch.scalar
import pytensor.link.onnx.dispatch.scan
import pytensor.link.onnx.dispatch.shape
import pytensor.link.onnx.dispatch.signal
import pytensor.link.onnx.dispatch.sort
import pytensor.link.onnx.dispatch.special
import pytensor.link.onnx.dispatch.subtensor
import pytensor.link.onnx.dispatch.tensor_basic
import pytensor.link.onnx.dispatch.unique
import pytensor.link.onnx.dispatch.vjp  # noqa: F401
# isort: on

__all__ = ["onnx_funcify"]
