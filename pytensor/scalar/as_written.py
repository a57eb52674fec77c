"""Functions of floating-point numbers that no rewrite changes."""

from pytensor.graph.facts import precision
from pytensor.scalar.basic import ScalarOp


class AsWritten(ScalarOp):
    """The function of another scalar Op, which rewrites and compilers leave as it is.

    What they know of that Op holds for real numbers: that ``x / c`` is ``x * (1 / c)``, that
    ``x + c - c`` is ``x``, and that ``x == x`` holds.
    """

    def __init__(self, scalar_op):
        self.scalar_op, self.nin, self.nout = scalar_op, scalar_op.nin, scalar_op.nout
        if hasattr(scalar_op, "nfunc_spec"):
            self.nfunc_spec = scalar_op.nfunc_spec
        super().__init__(name=scalar_op.name)

    def output_types(self, types):
        return self.scalar_op.output_types(types)

    def impl(self, *inputs):
        return self.scalar_op.impl(*inputs)

    def pullback(self, inputs, outputs, cotangents):
        return self.scalar_op.pullback(inputs, outputs, cotangents)

    def c_code(self, node, name, inputs, outputs, sub):
        inner = self.scalar_op.make_node(*node.inputs)
        return self.scalar_op.c_code(inner, name, inputs, outputs, sub)

    def c_code_cache_version(self):
        return (1, self.scalar_op.c_code_cache_version())

    def __eq__(self, other):
        return type(self) is type(other) and self.scalar_op == other.scalar_op

    def __hash__(self):
        return hash((type(self), self.scalar_op))


precision.register(AsWritten, lambda op: precision(op.scalar_op))
