"""Look for programs of a graph on disk before it is rewritten."""

import logging
from functools import cache, partial

from pytensor.compile.maker import FunctionMaker
from pytensor.link.jax.mode.calls import wants_wide_numbers
from pytensor.link.jax.mode.store.deferred import KeptProgram
from pytensor.link.jax.mode.store.disk import has_programs, store_folder
from pytensor.link.jax.mode.store.graph_key import NoKeyError, graph_key
from pytensor.link.jax.rewriting.host_checks import HostChecks
from pytensor.link.jax.rewriting.index_checks import find_index_checks
from pytensor.link.jax.rewriting.windows import needs_rewriting
from pytensor.link.jax.target import compiling_for

__all__ = ["rewrite_or_defer"]

logger = logging.getLogger(__name__)


def rewrite_or_defer(inputs, outputs, additional_outputs, fgraph, mode, profile):
    """Rewrite a graph, or put that off if there are programs of it on disk."""
    # A deferred graph is pickled, so this is no closure.
    rewrite = partial(_rewrite, inputs, outputs, additional_outputs, fgraph, mode, profile)
    folder = store_folder()
    if folder is None:
        rewrite()
        return
    # In what can be written over, or need not be copied, PyTensor's graphs differ.
    flags = [(s.borrow, s.mutable, s.shared) for s in inputs], [s.borrow for s in outputs]
    try:
        key = graph_key(fgraph, mode, flags)
    except NoKeyError as error:
        log_once(
            f"A program is not kept on disk: {error}. It is compiled at every start; leave "
            "keep_programs=True out if that is all right"
        )
        rewrite()
        return
    wide = wants_wide_numbers(fgraph)
    if has_programs(folder, key) and not needs_rewriting(fgraph):
        checks = find_index_checks(fgraph) if mode.linker.options.check_indices else []
        if checks:
            fgraph.attach_feature(HostChecks(fgraph.inputs, checks))
        fgraph.attach_feature(KeptProgram(key, rewrite, wide))
    else:
        rewrite()
        fgraph.attach_feature(KeptProgram(key, wide_numbers=wide))


def _rewrite(inputs, outputs, additional_outputs, fgraph, mode, profile):
    # The platform was chosen when the function was made, and maybe isn't when this is called.
    with compiling_for(mode.linker.options.platform):
        FunctionMaker.prepare_fgraph(inputs, outputs, additional_outputs, fgraph, mode, profile)


@cache
def log_once(message):
    """Log a warning, but not again in this process."""
    logger.warning(message)
