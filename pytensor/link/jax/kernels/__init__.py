"""Convolutions, normalizations and gradients in C++, for CPUs."""
