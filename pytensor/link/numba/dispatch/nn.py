from pytensor.link.numba.dispatch.scalar import numba_funcify_Composite, register_scalar_funcify
from pytensor.scalar.activations import ByFormula


@register_scalar_funcify(ByFormula)
def numba_funcify_ByFormula(op, node, **kwargs):
    composite = op.composite(*(v.type.dtype for v in node.inputs))
    return numba_funcify_Composite(composite, composite.make_node(*composite.inputs), **kwargs)
