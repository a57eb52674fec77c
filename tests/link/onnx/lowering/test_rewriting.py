import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import in2out
from pytensor.link.onnx.lowering.rewriting import make_portable
from pytensor.scalar import Composite
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.elemwise import local_careduce_fusion


def test_nothing_is_overwritten():
    """As compiled functions do; `verify` computes the nodes one by one."""
    x = pt.fvector("x")
    y = Elemwise(pt.exp.scalar_op, {0: 0})(pt.log(x))
    fgraph = FunctionGraph([x], [y], clone=True)
    make_portable(fgraph)
    assert [node.op for node in fgraph.toposort()] == [pt.log, pt.exp]


def test_no_reduction_is_fused():
    """As in functions compiled with a C compiler."""
    x = pt.fmatrix("x")
    fgraph = FunctionGraph([x], [pt.exp(x).prod(axis=1)], clone=True)
    in2out(local_careduce_fusion).rewrite(fgraph)
    (node,) = fgraph.apply_nodes
    assert isinstance(node.op.scalar_op, Composite)
    make_portable(fgraph)
    assert [node.op.scalar_op for node in fgraph.toposort()] == [ps.exp, ps.mul]
