"""Graphs whose rewriting is put off, maybe for ever, because their programs are on disk."""

from pytensor.graph.features import AlreadyThere, Feature

__all__ = ["KeptProgram"]


class KeptProgram(Feature):
    """Name of a graph's program on disk, and how to rewrite the graph if that was put off.

    The key is None for graphs that were made from another; `rewrite` is None unless it was put off.
    `wide_numbers` are the graph's before it is rewritten, for all processes find the same then.
    """

    def __init__(self, key, rewrite=None, wide_numbers=False):
        self.key, self.rewrite, self.wide_numbers = key, rewrite, wide_numbers

    def on_attach(self, fgraph):
        if hasattr(fgraph, "kept_program"):
            raise AlreadyThere("a graph has one program")
        fgraph.kept_program = self

    def on_detach(self, fgraph):
        del fgraph.kept_program

    def clone(self):
        return KeptProgram(None, wide_numbers=self.wide_numbers)

    def rewrite_now(self):
        """Rewrite the graph, if that was put off."""
        rewrite, self.rewrite = self.rewrite, None
        if rewrite is not None:
            rewrite()
