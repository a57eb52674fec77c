"""Register our rewrites when PyTensor loads its own."""

import pytensor.scan.rewriting.axes_of_one
import pytensor.scan.rewriting.until

__all__ = []
