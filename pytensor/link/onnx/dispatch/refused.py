"""What isn't exported, and why."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.scalar.basic import Complex
from pytensor.scalar.math import Hyp2F1
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.linalg.decomposition.eigen import Eig
from pytensor.tensor.linalg.decomposition.schur import QZ, Schur
from pytensor.tensor.linalg.solvers.lstsq import Lstsq

REASONS = {
    Complex: "onnxruntime has no complex numbers; compute on real and imaginary parts",
    Eig: "onnxruntime has no complex numbers; use eigh for symmetric matrices",
    Fourier: "onnxruntime has no complex numbers; use pytensor.tensor.fft.rfft",
    Hyp2F1: "the hypergeometric function has no one formula for all of its parameters; write out "
    "the elementary function that it is for yours, or the terms of its series",
    Lstsq: "the shape of its residuals depends on values; use pinv, or solve the normal equations",
    QZ: "ONNX has no generalized Schur decomposition; compute what needs it before the model",
    Schur: "ONNX has no Schur decomposition; use eigh for symmetric matrices",
}


def onnx_funcify_refused(op, node, *inputs):
    raise ConversionError(next(text for kind, text in REASONS.items() if isinstance(op, kind)))


for kind in REASONS:
    onnx_funcify.register(kind, onnx_funcify_refused)
