"""The old path of `jax_mode`."""

raise ImportError("pytensor.link.jax.tuned is gone: from pytensor.link.jax import jax_mode")
