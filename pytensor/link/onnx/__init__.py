"""Export of PyTensor graphs to ONNX.

Needs the packages ``onnx`` (to build and check models) and ``onnxruntime`` (to verify them).
"""

from pytensor.link.onnx.dispatch import onnx_funcify
from pytensor.link.onnx.errors import ConversionError, UnsupportedOpError, VerificationError
from pytensor.link.onnx.export import export_onnx

__all__ = [
    "ConversionError",
    "UnsupportedOpError",
    "VerificationError",
    "export_onnx",
    "onnx_funcify",
]
