"""A guard against wrong numbers that XLA returns on CPUs; see ``docs/wrong_numbers_from_xla.md``.

From jaxlib 0.10.2 on, XLA's library YNNPACK computes a product of matrices together with the sum
that follows it, and where an operand is a number repeated, the sum is wrong.  The guard takes such
fusions away and leaves only products and convolutions to the library.  The fault, for XLA's
developers: ``thoughts/upstream/xla-ynn-dot-reduce.md``.
"""

import logging
import os
import re
import sys
from functools import cache
from typing import Any

from pytensor.link.jax.internals import backend_has_started, jaxlib_version

__all__ = ["guard_options", "guard_xla"]

logger = logging.getLogger(__name__)
FLAG = "xla_cpu_experimental_ynn_fusion_type"
# XLA's default, without LIBRARY_FUSION_TYPE_REDUCE.
FUSIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
FIRST_WRONG, LAST_TRIED = (0, 10, 2), (0, 12, 0, 1)
# Parts of XLA's text of a program.
COMPUTATION = re.compile(r"^%(\S+) \(.*\{$\n((?:  .*\n)*)", re.MULTILINE)
OPERATION = re.compile(r" (?!parameter\()[\w-]+\(%")
PRODUCT = re.compile(r" (?:dot|convolution)\(")


def guard_xla() -> None:
    """Guard all that JAX computes in this process: ``mode="JAX"``, and JAX's own functions too.

    It adds a flag to the environment's ``XLA_FLAGS``, which JAX reads when it starts its backend:
    at the first array, or when a function is compiled.  Functions of
    `pytensor.link.jax.jax_mode` don't need it.  If the flag is there already, whatever its
    value, and for versions of jaxlib that don't have the fault, nothing is changed.

    Raises
    ------
    RuntimeError
        If JAX's backend has been started: then it is too late.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    # A version that doesn't know a flag would end the process.
    if FLAG in flags or jaxlib_version() < FIRST_WRONG:
        return
    if "jax" in sys.modules and backend_has_started():
        raise RuntimeError(
            "guard_xla: JAX has already started and read XLA_FLAGS; call guard_xla() before JAX "
            f"computes or compiles, or set XLA_FLAGS=--{FLAG}={FUSIONS}"
        )
    os.environ["XLA_FLAGS"] = f"{flags} --{FLAG}={FUSIONS}".strip()


def compiled_guarded(lowered: Any) -> Any:
    """Compile what `jax.jit` with `guard_options` has lowered; unguarded, if XLA gets it right.

    The guard takes sums away from the library too that are right, which costs a network's step a
    seventh.  A program without wrong fusions doesn't need it; that is seen when it is compiled.
    """
    program = lowered.compile(compiler_options={FLAG: f"{FUSIONS},LIBRARY_FUSION_TYPE_REDUCE"})
    return lowered.compile() if has_wrong_fusions(program.as_text()) else program


def has_wrong_fusions(hlo: str) -> bool:
    """Return whether a program has a product within a fusion of the library with a sum."""
    library = set(re.findall(r'calls=%?([^\s,]+),.*"kind":"__ynn_fusion"', hlo))
    return any(
        name in library and PRODUCT.search(body) and len(OPERATION.findall(body)) > 1
        for name, body in COMPUTATION.findall(hlo)
    )


def guard_options() -> dict[str, str | bool | int | float] | None:
    """Return the ``compiler_options`` for `jax.jit` that guard a function.

    None where JAX's default device isn't a CPU, and where XLA doesn't know the flag, which is told
    as a warning in the log.
    """
    import jax

    device = jax.config.jax_default_device
    platform = getattr(device, "platform", device) or jax.default_backend()
    return {FLAG: FUSIONS} if platform == "cpu" and _is_known() else None


@cache
def _is_known() -> bool:
    """Return whether XLA knows the flag and its values.

    A version that we haven't tried is asked, by an empty program, which takes as long as the whole
    start of a small function.
    """
    import jax

    if FIRST_WRONG <= jaxlib_version() <= LAST_TRIED:
        return True
    try:
        jax.jit(lambda: (), compiler_options={FLAG: FUSIONS}).lower().compile()
    except jax.errors.JaxRuntimeError as error:
        if "INVALID_ARGUMENT" not in str(error):
            raise
        logger.warning("XLA's products with sums can't be guarded: %s", error)
        return False
    return True
