"""Conversions of PyTensor's own Ops that PyTensor gets wrong or lacks."""
