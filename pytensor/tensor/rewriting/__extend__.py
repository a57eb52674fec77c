"""Register our rewrites when PyTensor loads its own."""

import pytensor.tensor.rewriting.corrections

__all__ = []
