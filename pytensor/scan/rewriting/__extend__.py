"""Register our rewrites when PyTensor loads its own."""

import pytensor.scan.rewriting.axes_of_one

__all__ = []
