"""Import of ONNX models: `from_onnx`, and the converters of operators."""

__all__ = []
