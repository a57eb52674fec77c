"""The linker of `pytensor.link.jax.jax_mode`: it converts graphs, compiles and calls them."""

from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

from pytensor.link.jax.generators import with_generators
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.mode.maker import is_deferred
from pytensor.link.jax.mode.options import Options
from pytensor.link.jax.rewriting import checks_of
from pytensor.link.jax.rewriting.find_sizes import find_sizes
from pytensor.link.jax.target import compiling_for
from pytensor.link.jax.xla_guard import guard_options
from pytensor.link.utils import map_storage

__all__ = ["TunedJAXLinker"]


class TunedJAXLinker(JAXLinker):
    """JAX linker with the options of `pytensor.link.jax.jax_mode`."""

    required_rewrites = (*JAXLinker.required_rewrites, "jax_tuned", "corrections")  # type: ignore[assignment]
    # Two take a mask of fewer axes than the array's for one of its last axes: see
    # thoughts/upstream/jax-masks-of-fewer-axes.md.  The third is corrected.  Plain mode JAX needs
    # the others, for graphs with our Ops only.
    incompatible_rewrites = (  # type: ignore[assignment]
        *JAXLinker.incompatible_rewrites,
        "jax_boolean_indexing_set_or_inc",
        "jax_boolean_indexing_sum",
        "local_reduce_broadcastable",
        "jax_known_length",
        "set_subtensor_of_make_vector_beside_our_ops",
    )

    def __init__(self, options: Options, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.options = options
        self.keep_programs = options.keep_programs and options.devices == 1
        self.host_sizes = None  # of the graph that was converted
        self.wide_numbers = False  # whether that graph needs 64 bits where JAX has none
        if options.devices > 1:
            self.incompatible_rewrites += ("local_all_reduce_of_one_device",)  # type: ignore[assignment]
        if options.precision == "bf16":
            import pytensor.tensor.precision  # noqa: F401  it registers the rewrite

            # It marks what must not be computed in bfloat16.
            self.incompatible_rewrites += ("local_remove_full_precision",)  # type: ignore[assignment]
        if options.cpu_kernels:
            self.required_rewrites += ("jax_cpu_kernels",)  # type: ignore[assignment]

    def fgraph_convert(self, fgraph, convert_node=None, **kwargs):
        if self.options.devices > 1:
            from pytensor.link.jax.parallel.sharding import check_results, on_each_device

            with self.compiling():
                check_results(fgraph)
        # Now, whatever the flags of kernels are when a deferred graph is converted.
        convert_node = convert_node or self._node_converter()
        self.host_sizes = None
        if is_deferred(fgraph):
            return self._convert_when_traced(fgraph, convert_node=convert_node, **kwargs)
        sizes = find_sizes(fgraph, kwargs["order"])
        if sizes.undecided:
            from pytensor.link.jax.mode.refusals import refuse

            refuse(sizes.undecided, fgraph)
        if sizes.variables and self.options.devices > 1:
            raise NotImplementedError(
                f"{sizes.variables[0]}: a length is known only at run time, and a mesh needs it "
                "at compile time; give the inputs static shapes"
            )
        with self.compiling():
            function = self._convert(fgraph, sizes, convert_node, **kwargs)

        @wraps(function)
        def traced(*args):
            with self.compiling():
                return tuple(map(with_dtype, function(*args), fgraph.outputs))

        if self.options.devices == 1:
            return traced
        return on_each_device(traced, fgraph.inputs, self.options.mesh)

    @contextmanager
    def compiling(self):
        """Rewrite, convert and trace in here for this linker's platform and devices."""
        options = self.options
        with compiling_for(options.platform, options.devices, options.sync_batchnorm):
            if not self.wide_numbers:
                yield  # without an import of JAX, where its graph is only rewritten
                return
            from pytensor.link.jax.host_arrays import with_wide_numbers

            with with_wide_numbers(True):
                yield

    def _convert(self, fgraph, sizes, convert_node, *, order, input_storage, storage_map, **kwargs):
        """Convert a graph as a function of its inputs and of its sizes, if it has any."""
        from pytensor.link.jax.dispatch import jax_funcify
        from pytensor.link.jax.mode.conversion import GraphWithConverter

        graph = fgraph
        if sizes.variables:
            from pytensor.link.jax.mode.programs_by_size import HostSizes

            self.host_sizes = HostSizes(fgraph, sizes)
            graph, order = self.host_sizes.graph, None
        return jax_funcify(
            GraphWithConverter(graph, convert_node),
            input_storage=input_storage,
            storage_map=storage_map,
            order=order,
            **kwargs,
        )

    def _convert_when_traced(self, fgraph, *, convert_node, input_storage, storage_map, **kwargs):
        """Rewrite and convert a deferred graph when JAX traces it: maybe never."""
        import jax

        @cache
        def converted():
            fgraph.kept_program.rewrite_now()
            order = self.schedule(fgraph)
            storages, outputs, storage_map = map_storage(fgraph, order, input_storage)
            # JAX is tracing: constants must not become part of what it traces.
            with jax.ensure_compile_time_eval():
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

    def _node_converter(self):
        """Return what converts every node, in inner graphs too, for `jax_funcify`."""
        from pytensor.link.jax.fixes import corrected_funcify

        convert, kernels = corrected_funcify, self._load_kernels()
        if kernels is not None:
            from pytensor.link.jax.kernels.cpu_kernels import with_cpu_kernels

            convert = with_cpu_kernels(convert, kernels)
        if self.options.precision == "bf16":
            from pytensor.link.jax.mode.precision import in_mixed_precision

            convert = in_mixed_precision(convert)
        if self.options.named_scopes:
            from pytensor.link.jax.profiling.node_names import in_named_scopes

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
        """Return whether anything can be donated: a function may have no updates."""
        return self.options.donate and bool(self.fgraph.update_mapping)

    def _program_key(self):
        """Return what the program is called on disk, or None."""
        kept = getattr(self.fgraph, "kept_program", None)
        if kept is None or kept.key is None:
            return None
        # A program that calls kernels can't be read where there are none, or others.
        return f"{kept.key}{self._load_kernels() or ''}{self._compiler_options() or ''}"

    def _load_kernels(self):
        """Make the kernels known to XLA, and return their code's digest; None if none are used."""
        if not self.options.cpu_kernels:
            return None
        from pytensor.link.jax.kernels.cpu_kernels import load_kernels

        with self.compiling():
            return load_kernels()

    def _compiler_options(self):
        """Return what `jax.jit` gets besides the function, or None."""
        return guard_options() if self.options.guard else None

    def jit_compile(self, fn):
        if self._donates():
            return fn  # a donating thunk compiles by itself
        from pytensor.link.jax.mode.calls import HostCall

        returned = len(self.fgraph.outputs) - len(self.fgraph.update_mapping or ())
        jitted = HostCall(with_generators(self._jit(fn), self.fgraph), self.wide_numbers, returned)
        if any(hasattr(v.type, "format") for v in [*self.fgraph.inputs, *self.fgraph.outputs]):
            from pytensor.link.jax.fixes.sparse import with_sparse_arguments

            return with_sparse_arguments(jitted, self.fgraph.inputs)
        return jitted

    def _jit(self, fn):
        import jax

        options = self._compiler_options()
        if self.host_sizes is None:
            jitted = jax.jit(fn, compiler_options=options)
            return self._from_store(jitted) or jitted
        from pytensor.link.jax.mode.programs_by_size import SizedFunction, with_sizes

        def compiled(sizes, key):
            jitted = jax.jit(with_sizes(fn, sizes), compiler_options=options)
            return self._from_store(jitted, sizes=key) or jitted

        return SizedFunction(self.host_sizes, compiled)

    def _from_store(self, jitted, *facts, sizes=None):
        """Return what calls a jitted function's first program from the disk, or with as little
        guard as it needs, or when all processes have it; None where none of these is wanted.
        """
        mesh = self.options.mesh
        together = mesh is not None and len({d.process_index for d in mesh.devices.flat}) > 1
        key, guarded = self._program_key(), self._compiler_options() is not None
        if not together and (not self.keep_programs or (key is None and not guarded)):
            return None
        from pytensor.link.jax.mode.store.program_store import StoredFunction

        if together:
            return StoredFunction(jitted, None, together=True)
        return StoredFunction(jitted, key, *facts, guarded=guarded, sizes=sizes)

    def create_jitable_thunk(self, compute_map, order, input_storage, output_storage, storage_map):
        from pytensor.link.jax.mode.calls import wants_wide_numbers

        kept = getattr(self.fgraph, "kept_program", None)
        self.wide_numbers = wants_wide_numbers(self.fgraph) if kept is None else kept.wide_numbers
        thunks, nodes, function = super().create_jitable_thunk(
            compute_map, order, input_storage, output_storage, storage_map
        )
        if not self._donates():
            return self._checked(thunks), nodes, function
        from pytensor.link.jax.mode.donation import DonatingThunk

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
            self.host_sizes,
            self._from_store,
            self._compiler_options(),
            self.wide_numbers,
        )
        return self._checked([thunk]), nodes, thunk.jit_fn

    def _checked(self, thunks):
        """Have indices and slices checked before each call, if the graph has any to check."""
        checks = checks_of(self.fgraph)
        if checks is None:
            return thunks
        from pytensor.link.jax.rewriting.host_checks import CheckedThunk

        return [CheckedThunk(thunk, checks) for thunk in thunks]

    def __getstate__(self):
        return self.__dict__ | {"host_sizes": None}  # converting again finds them

    def __repr__(self):
        return f"{type(self).__name__}({self.options})"


def with_dtype(result, variable):
    """Give a function's result the dtype of PyTensor's variable.

    PyTensor hands JAX a constant without axes as a number of Python's, which has no dtype; see
    ``thoughts/upstream/jax-scalar-constant-dtype.md``.
    """
    import jax

    # Other results have theirs; generators and the like have none.
    if not isinstance(result, jax.Array | bool | int | float | complex):
        return result
    if not jax.typeof(result).weak_type:
        return result
    return jax.numpy.asarray(result, jax.dtypes.canonicalize_dtype(variable.type.dtype))
