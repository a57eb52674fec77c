"""Mode JAX with choices that PyTensor's own doesn't offer: donated buffers, precision, names.

On CPUs it is guarded against wrong numbers of XLA's; see `pytensor.link.jax.xla_guard`.

::

    step = pytensor.function(
        [x, y], loss, updates=updates, mode=jax_mode(donate=True, precision="bf16"),
        trust_input=True,
    )

Functions compiled with ``mode="JAX"`` are not touched by anything here.
"""

from functools import partialmethod
from typing import Any, Literal

from pytensor.compile.io import In, Out
from pytensor.compile.mode import Mode, get_mode
from pytensor.compile.rewriting import functional_rewrite_ofg_inner_graph, rewrite_ofg_inner_graph
from pytensor.graph.facts import improves_inside
from pytensor.graph.rewriting.basic import GraphRewriter, get_active_mode
from pytensor.link.jax.tuned.linker import TunedJAXLinker
from pytensor.link.jax.tuned.maker import TunedFunctionMaker
from pytensor.tensor.optimize import rewrite_optimize_inner_graph

__all__ = ["jax_mode"]

# These follow every matrix in a product to where it comes from, to see whether it is diagonal or
# symmetric: a second for a network, and nothing is found but in linear algebra.
EXCLUDED = ("dot_diag_to_elemwise", "useless_symmetric_transpose")


class TunedMode(Mode):
    """Mode JAX with a `TunedJAXLinker`, and with a `TunedFunctionMaker`."""

    def __setstate__(self, state):
        linker, rewrites = state
        super().__setstate__((linker, getattr(rewrites, "query", rewrites)))
        if linker.keep_programs:
            self.provided_optimizer = DeferrableRewrites(self.provided_optimizer)

    @property
    def function_maker(self):
        return TunedFunctionMaker


class DeferrableRewrites(GraphRewriter):
    """Rewrite a graph as a mode's query says, or put that off if its program is on disk.

    For modes that others make of a `TunedMode`'s linker and rewrites, as PyMC does: they don't
    have its `TunedFunctionMaker`.
    """

    def __init__(self, query):
        self.query = query

    def _changed(self, how, *what):
        return DeferrableRewrites(getattr(self.query, how)(*what))

    including = partialmethod(_changed, "including")
    excluding = partialmethod(_changed, "excluding")
    requiring = partialmethod(_changed, "requiring")
    register = partialmethod(_changed, "register")

    def apply(self, fgraph):
        mode = TunedMode(get_active_mode(fgraph).linker, self.query)
        fgraph._compile_mode = mode  # of inner graphs too
        inputs, outputs = map(In, fgraph.inputs), map(Out, fgraph.outputs)
        mode.function_maker.prepare_fgraph(list(inputs), list(outputs), [], fgraph, mode, None)


def jax_mode(
    *, donate: bool = False, precision: Literal["float32", "bf16"] = "float32",
    named_scopes: bool = True, keep_programs: bool = False, cpu_kernels: bool = False,
    guard: bool = True, mesh: Any = None, sync_batchnorm: bool = False,
    platform: str | None = None, check_indices: bool = True,
) -> TunedMode:  # fmt: skip
    """Return mode JAX with a `TunedJAXLinker`; see there.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    linker = TunedJAXLinker(
        donate=donate, precision=precision, named_scopes=named_scopes, keep_programs=keep_programs,
        cpu_kernels=cpu_kernels, guard=guard, mesh=mesh, sync_batchnorm=sync_batchnorm,
        platform=platform, check_indices=check_indices,
    )  # fmt: skip
    return TunedMode(linker, get_mode("JAX")._optimizer.excluding(*EXCLUDED))


@rewrite_ofg_inner_graph.register(TunedJAXLinker)
def rewrite_inner_graph(linker, op, node, inner, *, mode):
    """Rewrite an inner graph, unless nothing there can be improved, which takes as long."""
    if improves_inside(op):
        functional_rewrite_ofg_inner_graph(linker, op, node, inner, mode=mode)


@rewrite_optimize_inner_graph.register(TunedJAXLinker)
def leave_to_the_conversion(linker, op, node, inner, *, mode):
    """Keep the equations of a root or a minimum: SciPy's callback has them computed, not JAX."""
