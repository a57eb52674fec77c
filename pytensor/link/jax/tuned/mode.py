"""Mode JAX with choices that PyTensor's own doesn't offer: donated buffers, precision, names.

On CPUs it is guarded against wrong numbers of XLA's; see `pytensor.link.jax.xla_guard`.

::

    step = pytensor.function(
        [x, y], loss, updates=updates, mode=jax_mode(donate=True, precision="bf16"),
        trust_input=True,
    )

Functions compiled with ``mode="JAX"`` are not touched by anything here.
"""

import warnings
from functools import cache, partialmethod, wraps
from typing import Any, Literal

from pytensor.compile.io import In, Out
from pytensor.compile.maker import FunctionMaker
from pytensor.compile.mode import Mode, get_mode
from pytensor.compile.rewriting import functional_rewrite_ofg_inner_graph, rewrite_ofg_inner_graph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.facts import improves_inside
from pytensor.graph.rewriting.basic import GraphRewriter, get_active_mode
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.platforms import PLATFORMS, compiling_for
from pytensor.link.jax.tuned import normalization  # noqa: F401  # it registers a rewrite
from pytensor.link.jax.xla_guard import guard_options
from pytensor.link.utils import map_storage
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.rewriting.updates import join_updates

__all__ = ["PRECISIONS", "TunedJAXLinker", "jax_mode"]

PRECISIONS = ("float32", "bf16")
# These follow every matrix in a product to where it comes from, to see whether it is diagonal or
# symmetric: a second for a network, and nothing is found but in linear algebra.
EXCLUDED = ("dot_diag_to_elemwise", "useless_symmetric_transpose")


class TunedJAXLinker(JAXLinker):
    """JAX linker with donated buffers, mixed precision and names for profiles.

    Parameters
    ----------
    donate : bool
        Write the new values of shared variables over the old ones.  An array that
        ``get_value(borrow=True)`` returned is gone after the next call; see
        `pytensor.link.jax.tuned.donation`.
    precision : "float32" or "bf16"
        With "bf16", convolutions and activations are computed in bfloat16; see
        `pytensor.link.jax.tuned.precision`.
    named_scopes : bool
        Name XLA's operations after PyTensor's; see `pytensor.link.jax.tuned.scopes`.
    keep_programs : bool
        Keep compiled programs where JAX's persistent compilation cache is, and look for them before
        anything else is done; see `pytensor.link.jax.tuned.program_store`.
    cpu_kernels : bool
        On a CPU, compute convolutions, normalizations and gradients by our own code; see
        `pytensor.link.jax.tuned.cpu_kernels`.
    guard : bool
        On a CPU, keep XLA from fusions that return wrong numbers; see
        `pytensor.link.jax.xla_guard`.  With `keep_programs`, the program for the first arguments
        is spared what it doesn't need of that.
    platform : {"cpu", "gpu", "cuda", "rocm", "tpu"}, optional
        The kind of device whose form of the graph is made: on a CPU convolutions have their
        channels last and may be computed by our kernels.  It doesn't say where the function runs,
        which is JAX's default device, so a CPU can run what a GPU would get.  That device's kind by
        default.

    Raises
    ------
    ValueError
        If precision or platform are none of these.
    """

    required_rewrites = (*JAXLinker.required_rewrites, "jax_tuned")  # type: ignore[assignment]

    def __init__(
        self, *args: Any, donate: bool = False, precision: Literal["float32", "bf16"] = "float32",
        named_scopes: bool = True, keep_programs: bool = False, cpu_kernels: bool = False,
        guard: bool = True, platform: str | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        if platform is not None and platform not in PLATFORMS:
            raise ValueError(f"platform is {platform!r}; it must be one of {(*PLATFORMS,)}")
        self.platform = platform
        if precision not in PRECISIONS:
            raise ValueError(f"precision is {precision!r}; it must be one of {PRECISIONS}")
        self.donate, self.precision, self.named_scopes = donate, precision, named_scopes
        self.keep_programs, self.cpu_kernels, self.guard = keep_programs, cpu_kernels, guard
        if precision == "bf16":
            # It marks what must not be computed in bfloat16.
            self.incompatible_rewrites += ("local_remove_full_precision",)  # type: ignore[assignment]
        if cpu_kernels:
            self.required_rewrites += ("jax_cpu_kernels",)  # type: ignore[assignment]

    def fgraph_convert(self, fgraph, convert_node=None, **kwargs):
        from pytensor.link.jax.tuned.conversion import ConvertedGraph

        # Now, whatever the flags of kernels are when a deferred graph is converted.
        convert_node = convert_node or self._node_conversion()
        if is_deferred(fgraph):
            return self._convert_later(fgraph, convert_node=convert_node, **kwargs)
        with compiling_for(self.platform):
            function = super().fgraph_convert(ConvertedGraph(fgraph, convert_node), **kwargs)
        function = with_dtypes(function, fgraph.outputs)

        @wraps(function)
        def traced(*args):
            with compiling_for(self.platform):
                return function(*args)

        return traced

    def _convert_later(self, fgraph, *, convert_node, input_storage, storage_map, **kwargs):
        """Convert a graph that is yet to be rewritten, when it is traced: maybe never."""
        import jax

        copy_generators(fgraph, input_storage, storage_map)

        @cache
        def converted():
            fgraph.kept_program.finish()
            order = self.schedule(fgraph)
            # A list of its own, in which PyTensor puts other copies of generators.
            storages, outputs, storage_map = map_storage(fgraph, order, list(input_storage))
            # JAX is tracing: constants must not become part of what it traces.
            with jax.ensure_compile_time_eval(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The RandomType SharedVariables")  # it was said
                return self.fgraph_convert(
                    fgraph,
                    order=order,
                    input_storage=storages,
                    output_storage=outputs,
                    storage_map=storage_map,
                    convert_node=convert_node,
                )

        def jax_funcified_fgraph(*args):
            return converted()(*args)

        return jax_funcified_fgraph

    def _node_conversion(self):
        """Return what takes the place of `jax_funcify` for every node, in inner graphs too."""
        from pytensor.link.jax.tuned.conversion import tuned_funcify

        convert, kernels = tuned_funcify, self._kernels()
        if kernels is not None:
            from pytensor.link.jax.tuned.cpu_kernels import with_cpu_kernels

            convert = with_cpu_kernels(convert, kernels)
        if self.precision == "bf16":
            from pytensor.link.jax.tuned.precision import in_mixed_precision

            convert = in_mixed_precision(convert)
        if self.named_scopes:
            from pytensor.link.jax.tuned.scopes import in_named_scopes

            convert = in_named_scopes(convert)
        return convert

    def accept(self, fgraph, no_recycling=None, profile=None):
        if self.fgraph is not None and self.fgraph is not fgraph:
            # PyTensor would make a linker without these choices.
            linker = self.clone()
            linker.fgraph = None
            return linker.accept(fgraph, no_recycling, profile)
        return super().accept(fgraph, no_recycling, profile)

    def _donates(self):
        """Return whether there is anything that can be donated: a function may have no updates."""
        return self.donate and bool(self.fgraph.update_mapping)

    def _key(self):
        """Return the program's name on disk, or None."""
        # An input that is part of the program, as a length, makes another for each value.
        kept = None if self.scalar_shape_inputs else getattr(self.fgraph, "kept_program", None)
        if kept is None or kept.key is None:
            return None
        # A program that calls kernels can't be read where there are none, or others.
        return f"{kept.key}{self._kernels() or ''}{self._compiler_options() or ''}"

    def _kernels(self):
        """Return the name of the kernels' code, which XLA knows from now on; None if unused."""
        if not self.cpu_kernels:
            return None
        from pytensor.link.jax.tuned.cpu_kernels import load_kernels

        with compiling_for(self.platform):
            return load_kernels()

    def _compiler_options(self):
        """Return what `jax.jit` gets beside the function, or None."""
        return guard_options() if self.guard else None

    def jit_compile(self, fn):
        if self._donates():
            return fn  # a donating thunk compiles by itself
        import jax

        lengths = self.scalar_shape_inputs
        options = self._compiler_options()
        jitted = jax.jit(fn, static_argnums=lengths, compiler_options=options)
        if lengths:
            return with_integers(jitted, lengths)
        return self._stored(jitted) or jitted

    def _stored(self, jitted, *facts):
        """Return what calls a jitted function's first program from the disk, or with as little
        guard as it needs; None where programs aren't kept.
        """
        key, guarded = self._key(), self._compiler_options() is not None
        if not self.keep_programs or self.scalar_shape_inputs or (key is None and not guarded):
            return None
        from pytensor.link.jax.tuned.program_store import StoredFunction

        return StoredFunction(jitted, key, *facts, guarded=guarded)

    def create_jitable_thunk(self, compute_map, order, input_storage, output_storage, storage_map):
        thunks, nodes, function = super().create_jitable_thunk(
            compute_map, order, input_storage, output_storage, storage_map
        )
        if not self._donates():
            return thunks, nodes, function
        from pytensor.link.jax.tuned.donation import DonatingThunk

        # A donating thunk puts nothing into the storages of updates, but PyTensor clears them all
        # after each call: one for all, for a thousand take time.
        updates = len(self.fgraph.update_mapping)
        output_storage[-updates:] = [[None]] * updates
        (thunk,) = thunks
        thunk = DonatingThunk(
            self.fgraph,
            function,
            thunk.inputs,
            thunk.outputs,
            nodes[0] if nodes else None,
            self.scalar_shape_inputs,
            self._stored,
            self._compiler_options(),
        )
        return [thunk], nodes, thunk.jit_fn

    def __repr__(self):
        return (
            f"{type(self).__name__}(donate={self.donate}, precision={self.precision!r}, "
            f"named_scopes={self.named_scopes}, keep_programs={self.keep_programs}, "
            f"cpu_kernels={self.cpu_kernels}, guard={self.guard}, platform={self.platform!r})"
        )


def with_dtypes(function, outputs):
    """Give a function's results the dtypes of PyTensor's variables.

    PyTensor hands JAX a constant without axes as a number of Python's, which has no dtype; see
    ``thoughts/upstream/jax-scalar-constant-dtype.md``.
    """

    import jax

    def with_dtype(result, variable):
        # Other results have theirs; generators and the like have none.
        if not isinstance(result, jax.Array | bool | int | float | complex):
            return result
        if not jax.typeof(result).weak_type:
            return result
        return jax.numpy.asarray(result, jax.dtypes.canonicalize_dtype(variable.type.dtype))

    @wraps(function)
    def converted(*args):
        return tuple(map(with_dtype, function(*args), outputs))

    return converted


def with_integers(function, places):
    """Wrap a function that takes integers at these places, where PyTensor has arrays."""

    def call(*args):
        return function(*(int(v) if k in places else v for k, v in enumerate(args)))

    return call


class TunedFunctionMaker(FunctionMaker):
    """Makes functions whose updates are joined: see `pytensor.tensor.rewriting.updates`.

    Where a program was found on disk, its graph is rewritten when `fgraph` is asked for; until then
    `deferred` is True.
    """

    _created = False

    @property
    def deferred(self):
        return is_deferred(self._fgraph)

    @property
    def fgraph(self):
        if self._created and self.deferred:
            self._fgraph.kept_program.finish()
        return self._fgraph

    @fgraph.setter
    def fgraph(self, fgraph):
        self._fgraph = fgraph

    def create(self, *args, **kwargs):
        function = super().create(*args, **kwargs)
        self._created = True
        # After each call PyTensor empties what held outputs.  A donating thunk has one storage for
        # all updates, and once is enough.
        cleared = {id(storage): storage for storage in function._clear_output_storage_data}
        function._clear_output_storage_data = tuple(cleared.values())
        return function

    @staticmethod
    def create_fgraph(input_specs, output_specs, *args, fgraph=None, **kwargs):
        if fgraph is None:
            updated = [spec for spec in input_specs if spec.update is not None]
            joined = join_updates(
                [spec.update for spec in updated],
                [spec.variable for spec in output_specs],
                [spec.variable for spec in input_specs],
            )
            for spec, update in zip(updated, joined, strict=True):
                spec.update = update
        return FunctionMaker.create_fgraph(
            input_specs, output_specs, *args, fgraph=fgraph, **kwargs
        )

    @staticmethod
    def prepare_fgraph(inputs, outputs, additional_outputs, fgraph, mode, profile):
        prepare = FunctionMaker.prepare_fgraph
        if getattr(mode.linker, "keep_programs", False):
            from pytensor.link.jax.tuned.program_store import prepare_or_defer as prepare

        with compiling_for(getattr(mode.linker, "platform", None)):
            prepare(inputs, outputs, additional_outputs, fgraph, mode, profile)


def copy_generators(fgraph, input_storage, storage_map):
    """Put copies of shared generators in their place, as PyTensor does when it converts a graph."""
    shared = [
        variable
        for variable in fgraph.inputs
        if isinstance(variable, SharedVariable) and isinstance(variable.type, RandomType)
    ]
    if shared:
        warnings.warn(
            f"The RandomType SharedVariables {shared} will not be used in the compiled JAX graph. "
            "Instead a copy will be used.",
            UserWarning,
            stacklevel=2,
        )
    for variable in shared:
        copy = [variable.get_value(borrow=False)]
        input_storage[fgraph.inputs.index(variable)] = storage_map[variable] = copy


def is_deferred(fgraph):
    """Return whether a graph is yet to be rewritten, as its program is on disk."""
    kept = getattr(fgraph, "kept_program", None)
    return kept is not None and kept.prepare is not None


class TunedMode(Mode):
    """Mode JAX with a `TunedJAXLinker`, and with a `TunedFunctionMaker`."""

    def __setstate__(self, state):
        linker, rewrites = state
        super().__setstate__((linker, getattr(rewrites, "query", rewrites)))
        if linker.keep_programs:
            self.provided_optimizer = RewritesOrProgram(self.provided_optimizer)

    @property
    def function_maker(self):
        return TunedFunctionMaker


class RewritesOrProgram(GraphRewriter):
    """What a mode's query selects, put off where the program that it leads to is on disk.

    For modes that others make of a `TunedMode`'s linker and rewrites, as PyMC does: they don't
    have its `TunedFunctionMaker`.
    """

    def __init__(self, query):
        self.query = query

    def _changed(self, how, *what):
        return RewritesOrProgram(getattr(self.query, how)(*what))

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
    guard: bool = True, platform: str | None = None,
) -> TunedMode:  # fmt: skip
    """Return mode JAX with a `TunedJAXLinker`; see there.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    linker = TunedJAXLinker(
        donate=donate, precision=precision, named_scopes=named_scopes, keep_programs=keep_programs,
        cpu_kernels=cpu_kernels, guard=guard, platform=platform,
    )  # fmt: skip
    return TunedMode(linker, get_mode("JAX")._optimizer.excluding(*EXCLUDED))


@rewrite_ofg_inner_graph.register(TunedJAXLinker)
def rewrite_inner_graph(linker, op, node, inner, *, mode):
    """Rewrite an inner graph, unless nothing there can be improved, which takes as long."""
    if improves_inside(op):
        functional_rewrite_ofg_inner_graph(linker, op, node, inner, mode=mode)
