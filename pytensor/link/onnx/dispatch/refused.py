"""Linear algebra that isn't exported, and why."""

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.linalg.decomposition.eigen import Eig
from pytensor.tensor.linalg.decomposition.schur import QZ, Schur
from pytensor.tensor.linalg.solvers.lstsq import Lstsq

REASONS = {
    Eig: "onnxruntime has no complex numbers; use eigh for symmetric matrices",
    Fourier: "onnxruntime has no complex numbers; use pytensor.tensor.fft.rfft",
    Lstsq: "the shape of its residuals depends on values; use pinv, or solve the normal equations",
    QZ: "ONNX has no generalized Schur decomposition; compute what needs it before the model",
    Schur: "ONNX has no Schur decomposition; use eigh for symmetric matrices",
}


@onnx_funcify.register(Eig)
@onnx_funcify.register(Fourier)
@onnx_funcify.register(Lstsq)
@onnx_funcify.register(QZ)
@onnx_funcify.register(Schur)
def onnx_funcify_refused(op, node, builder, *inputs):
    raise ConversionError(next(text for kind, text in REASONS.items() if isinstance(op, kind)))
