"""The linker of `pytensor.link.jax.tuned.jax_mode`: it converts graphs, compiles and calls them."""

import warnings
from functools import cache, wraps
from typing import Any, Literal

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.platforms import PLATFORMS, compiling_for
from pytensor.link.jax.rewriting.host_checks import CheckedThunk, host_checks
from pytensor.link.jax.tuned.deferred import is_deferred, rewrite_deferred
from pytensor.link.jax.xla_guard import guard_options
from pytensor.link.utils import map_storage
from pytensor.tensor.random.type import RandomType

__all__ = ["PRECISIONS", "TunedJAXLinker"]

PRECISIONS = ("float32", "bf16")


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

    required_rewrites = (*JAXLinker.required_rewrites, "jax_tuned", "corrections")  # type: ignore[assignment]

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
        from pytensor.link.jax.tuned.conversion import GraphWithConverter

        # Now, whatever the flags of kernels are when a deferred graph is converted.
        convert_node = convert_node or self._node_converter()
        if is_deferred(fgraph):
            return self._convert_when_traced(fgraph, convert_node=convert_node, **kwargs)
        with compiling_for(self.platform):
            function = super().fgraph_convert(GraphWithConverter(fgraph, convert_node), **kwargs)
        function = with_dtypes(function, fgraph.outputs)

        @wraps(function)
        def traced(*args):
            with compiling_for(self.platform):
                return function(*args)

        return traced

    def _convert_when_traced(self, fgraph, *, convert_node, input_storage, storage_map, **kwargs):
        """Rewrite and convert a deferred graph when JAX traces it: maybe never."""
        import jax

        copy_generators(fgraph, input_storage, storage_map)

        @cache
        def converted():
            rewrite_deferred(fgraph)
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

    def _node_converter(self):
        """Return what converts every node, those of inner graphs included, for `jax_funcify`."""
        from pytensor.link.jax.tuned.conversion import tuned_funcify

        convert, kernels = tuned_funcify, self._load_kernels()
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
        """Return whether anything can be donated: a function may have no updates."""
        return self.donate and bool(self.fgraph.update_mapping)

    def _program_key(self):
        """Return what the program is called on disk, or None."""
        # An input that is part of the program, as a length, makes another for each value.
        kept = None if self.scalar_shape_inputs else getattr(self.fgraph, "kept_program", None)
        if kept is None or kept.key is None:
            return None
        # A program that calls kernels can't be read where there are none, or others.
        return f"{kept.key}{self._load_kernels() or ''}{self._compiler_options() or ''}"

    def _load_kernels(self):
        """Make the kernels known to XLA, and return their code's digest; None if none are used."""
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
            return with_integer_arguments(jitted, lengths)
        return self._from_store(jitted) or jitted

    def _from_store(self, jitted, *facts):
        """Return what calls a jitted function's first program from the disk, or with as little
        guard as it needs; None where programs aren't kept.
        """
        key, guarded = self._program_key(), self._compiler_options() is not None
        if not self.keep_programs or self.scalar_shape_inputs or (key is None and not guarded):
            return None
        from pytensor.link.jax.tuned.program_store import StoredFunction

        return StoredFunction(jitted, key, *facts, guarded=guarded)

    def create_jitable_thunk(self, compute_map, order, input_storage, output_storage, storage_map):
        thunks, nodes, function = super().create_jitable_thunk(
            compute_map, order, input_storage, output_storage, storage_map
        )
        if not self._donates():
            return self._checked(thunks), nodes, function
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
            self._from_store,
            self._compiler_options(),
        )
        return self._checked([thunk]), nodes, thunk.jit_fn

    def _checked(self, thunks):
        """Have indices and slices checked before each call, if the graph has any to check."""
        checks = host_checks(self.fgraph)
        return thunks if checks is None else [CheckedThunk(thunk, checks) for thunk in thunks]

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


def with_integer_arguments(function, places):
    """Wrap a function that takes integers at these places, where PyTensor has arrays."""

    def call(*args):
        return function(*(int(v) if k in places else v for k, v in enumerate(args)))

    return call


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
