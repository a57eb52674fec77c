"""Programs of `jax_mode` on disk."""
