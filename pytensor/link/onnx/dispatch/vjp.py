"""Gradients of whole Ops."""
