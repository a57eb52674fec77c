"""Comparison of runtimes: which computes a model wrongly, and from which node on."""

from pytensor.link.onnx.compare.graph import ComparisonError
from pytensor.link.onnx.compare.report import Report, compare_runtimes

__all__ = ["ComparisonError", "Report", "compare_runtimes"]
