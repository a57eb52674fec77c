"""Rewrites for mode JAX."""
