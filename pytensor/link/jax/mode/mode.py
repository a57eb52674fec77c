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
from importlib.util import find_spec

from pytensor.compile.io import In, Out
from pytensor.compile.mode import Mode, get_mode
from pytensor.compile.rewriting import functional_rewrite_ofg_inner_graph, rewrite_ofg_inner_graph
from pytensor.graph.facts import improves_inside
from pytensor.graph.rewriting.basic import GraphRewriter, get_active_mode
from pytensor.link.jax.mode.linker import TunedJAXLinker
from pytensor.link.jax.mode.maker import TunedFunctionMaker
from pytensor.link.jax.mode.options import Options, with_options
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


@with_options(Options)
def jax_mode(options: Options) -> TunedMode:
    """Build a JAX mode for training networks.

    On CPUs it also guards against wrong numbers of XLA's, which mode ``"JAX"`` returns.

    Parameters
    ----------
    donate : bool
        Write the new values of shared variables over the old ones.  An array that
        ``get_value(borrow=True)`` returned is gone after the next call; see
        `pytensor.link.jax.mode.donation`.
    precision : "float32" or "bf16"
        With "bf16", convolutions and activations are computed in bfloat16; see
        `pytensor.link.jax.mode.precision`.
    named_scopes : bool
        Name XLA's operations after PyTensor's; see `pytensor.link.jax.profiling.node_names`.
    keep_programs : bool
        Keep compiled programs where JAX's persistent compilation cache is, and look for them before
        anything else is done; see `pytensor.link.jax.mode.store.program_store`.
    cpu_kernels : bool
        On a CPU, compute convolutions, normalizations and gradients by our own code; see
        `pytensor.link.jax.kernels.cpu_kernels`.
    guard : bool
        On a CPU, keep XLA from fusions that return wrong numbers; see
        `pytensor.link.jax.xla_guard`.  With `keep_programs`, the program for the first arguments
        leaves out the parts of the guard that it doesn't need.
    mesh : jax.sharding.Mesh, optional
        Devices that share each batch; see `pytensor.link.jax.parallel`.  Programs for several
        devices aren't kept, whatever `keep_programs` says.
    sync_batchnorm : bool
        Take the statistics of batch normalizations from the whole batch, not from the rows of each
        device.
    platform : {"cpu", "gpu", "cuda", "rocm", "tpu"}, optional
        The kind of device that the graph is rewritten for: on a CPU, convolutions have their
        channels last and may be computed by our kernels.  By default the kind of JAX's default
        device, on which the function runs in any case, so a CPU can run a GPU's form.
    check_indices : bool
        Compare indices that are inputs with lengths before each call; see
        `pytensor.link.jax.rewriting.index_checks`.

    Returns
    -------
    pytensor.compile.mode.Mode

    Raises
    ------
    ModuleNotFoundError
        If the package ``jax`` is missing.
    ValueError
        If precision or platform are none of these, or the mesh has other axes than "data".

    Examples
    --------
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.jax import jax_mode
    >>> x, w = pt.vector("x"), pytensor.shared(2.0, name="w")
    >>> loss = ((w * x) ** 2).sum()
    >>> updates = {w: w - 0.1 * pytensor.grad(loss, w)}
    >>> step = pytensor.function([x], loss, updates=updates, mode=jax_mode(donate=True))
    >>> float(step([1.0, 1.0])), float(w.get_value().round(2))
    (8.0, 1.2)
    """
    if find_spec("jax") is None:
        raise ModuleNotFoundError("jax_mode needs the package 'jax': pip install jax", name="jax")
    rewrites = get_mode("JAX")._optimizer.excluding(*EXCLUDED)
    return TunedMode(TunedJAXLinker(options), rewrites)


@rewrite_ofg_inner_graph.register(TunedJAXLinker)
def rewrite_inner_graph(linker, op, node, inner, *, mode):
    """Rewrite an inner graph, unless nothing there can be improved, which takes as long."""
    if improves_inside(op):
        functional_rewrite_ofg_inner_graph(linker, op, node, inner, mode=mode)


@rewrite_optimize_inner_graph.register(TunedJAXLinker)
def leave_to_the_conversion(linker, op, node, inner, *, mode):
    """Keep the equations of a root or a minimum: SciPy's callback has them computed, not JAX."""
