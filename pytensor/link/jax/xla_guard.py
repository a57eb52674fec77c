"""What keeps XLA from returning wrong numbers on CPUs; see `docs/wrong_numbers_from_xla.md`.

jaxlib 0.10.2 to 0.12.0.1 let a library, YNNPACK, compute a product of matrices together with the
sum that follows it, and the sum comes out wrong for many shapes.  The guard takes these fusions
away, and leaves products and convolutions alone to the library.  The fault, for XLA's developers:
``thoughts/upstream/xla-ynn-dot-reduce.md``.
"""

import logging
from functools import cache

__all__ = ["guard_options"]

logger = logging.getLogger(__name__)
FLAG = "xla_cpu_experimental_ynn_fusion_type"
# XLA's default, without LIBRARY_FUSION_TYPE_REDUCE.
FUSIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"


def guard_options():
    """Return ``compiler_options`` for `jax.jit` that guard a function.

    Returns
    -------
    dict or None
        None where JAX's default device isn't a CPU, and where XLA doesn't know the flag, which is
        told as a warning in the log.
    """
    import jax

    device = jax.config.jax_default_device
    platform = getattr(device, "platform", device) or jax.default_backend()
    return {FLAG: FUSIONS} if platform == "cpu" and _is_known() else None


@cache
def _is_known():
    """Whether XLA knows the flag and its values: it is asked, by an empty program."""
    import jax

    try:
        jax.jit(lambda: (), compiler_options={FLAG: FUSIONS}).lower().compile()
    except jax.errors.JaxRuntimeError as error:
        if "INVALID_ARGUMENT" not in str(error):
            raise
        logger.warning("XLA's products with sums can't be guarded: %s", error)
        return False
    return True
