"""The old path of `jax_mode`."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"pytensor.link.jax.tuned.{name} is gone: from pytensor.link.jax import jax_mode"
    )
