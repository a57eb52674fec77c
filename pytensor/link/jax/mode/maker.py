"""The maker of functions of `jax_mode`: it joins their updates, and may put rewrites off."""

from contextlib import nullcontext

from pytensor.compile.maker import FunctionMaker

__all__ = ["TunedFunctionMaker", "is_deferred"]


class TunedFunctionMaker(FunctionMaker):
    """Make functions whose updates are joined: see `pytensor.link.jax.rewriting.updates`.

    Where a program was found on disk, rewriting its graph is put off, and `deferred` is True, until
    somebody asks for `fgraph`.
    """

    _created = False

    @property
    def deferred(self):
        """Return whether the graph is yet to be rewritten."""
        return is_deferred(self._fgraph)

    @property
    def fgraph(self):
        """The graph, for whoever looks at it: rewritten now, if that was put off."""
        # PyTensor has a plain attribute of this name, and reads it while it makes the function.
        if self._created and self.deferred:
            self._fgraph.kept_program.rewrite_now()
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
        updated = [spec for spec in input_specs if spec.update is not None]
        if fgraph is None and updated:
            from pytensor.link.jax.rewriting.updates import join_updates

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
        rewrite = FunctionMaker.prepare_fgraph
        if getattr(mode.linker, "keep_programs", False):
            from pytensor.link.jax.mode.store.lookup import rewrite_or_defer as rewrite

        with getattr(mode.linker, "compiling", nullcontext)():
            rewrite(inputs, outputs, additional_outputs, fgraph, mode, profile)


def is_deferred(fgraph):
    """Return whether a graph is yet to be rewritten, and may never be: its program is on disk."""
    kept = getattr(fgraph, "kept_program", None)
    return kept is not None and kept.rewrite is not None
