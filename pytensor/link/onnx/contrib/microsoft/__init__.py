"""Operators that onnxruntime adds, in com.microsoft."""
