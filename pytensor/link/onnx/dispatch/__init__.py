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
import pytensor.link.onnx.dispatch.conv
import pytensor.link.onnx.dispatch.conv_grad
import pytensor.link.onnx.dispatch.diagonal
import pytensor.link.onnx.dispatch.elemwise
import pytensor.link.onnx.dispatch.extra_ops
import pytensor.link.onnx.dispatch.fft
import pytensor.link.onnx.dispatch.ifelse
import pytensor.link.onnx.dispatch.inc_subtensor
import pytensor.link.onnx.dispatch.linalg
import pytensor.link.onnx.dispatch.linalg_blocks
import pytensor.link.onnx.dispatch.linalg_eigh
import pytensor.link.onnx.dispatch.linalg_equations
import pytensor.link.onnx.dispatch.linalg_expm
import pytensor.link.onnx.dispatch.linalg_lu
import pytensor.link.onnx.dispatch.linalg_qr
import pytensor.link.onnx.dispatch.linalg_refused
import pytensor.link.onnx.dispatch.linalg_svd
import pytensor.link.onnx.dispatch.linalg_triangular
import pytensor.link.onnx.dispatch.linalg_tridiagonal
import pytensor.link.onnx.dispatch.math
import pytensor.link.onnx.dispatch.normalization
import pytensor.link.onnx.dispatch.pad
import pytensor.link.onnx.dispatch.pool
import pytensor.link.onnx.dispatch.pool_grad
import pytensor.link.onnx.dispatch.random
import pytensor.link.onnx.dispatch.resize
import pytensor.link.onnx.dispatch.scalar
import pytensor.link.onnx.dispatch.scalar_arithmetic
import pytensor.link.onnx.dispatch.scalar_bessel
import pytensor.link.onnx.dispatch.scalar_beta
import pytensor.link.onnx.dispatch.scalar_division
import pytensor.link.onnx.dispatch.scalar_erf
import pytensor.link.onnx.dispatch.scalar_float
import pytensor.link.onnx.dispatch.scalar_gamma
import pytensor.link.onnx.dispatch.scalar_gammainc
import pytensor.link.onnx.dispatch.scalar_inverse
import pytensor.link.onnx.dispatch.scalar_logic
import pytensor.link.onnx.dispatch.scalar_loop
import pytensor.link.onnx.dispatch.scalar_math
import pytensor.link.onnx.dispatch.scalar_owens
import pytensor.link.onnx.dispatch.scalar_power
import pytensor.link.onnx.dispatch.scalar_trig
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
