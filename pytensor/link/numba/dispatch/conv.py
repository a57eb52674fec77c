import functools
import logging

from pytensor.link.numba.dispatch.basic import numba_funcify
from pytensor.link.numba.dispatch.perform import numba_funcify_through_perform
from pytensor.tensor.conv.ops import BaseConv

_logger = logging.getLogger("pytensor.link.numba")


@functools.cache
def _name_a_faster_mode():
    _logger.warning(
        "Numba compiles a network with convolutions: a training step takes about a minute to "
        "start. With mode=pytensor.link.jax.jax_mode() it starts in seconds and runs faster."
    )


@numba_funcify.register(BaseConv)
def numba_funcify_BaseConv(op, node, **kwargs):
    _name_a_faster_mode()
    return numba_funcify_through_perform(op, node, **kwargs)
