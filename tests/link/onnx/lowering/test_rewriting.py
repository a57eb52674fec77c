import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.lowering.rewriting import make_portable
from pytensor.tensor.elemwise import Elemwise


def test_nothing_is_overwritten():
    """As compiled functions do; `verify` computes the nodes one by one."""
    x = pt.fvector("x")
    y = Elemwise(pt.exp.scalar_op, {0: 0})(pt.log(x))
    fgraph = FunctionGraph([x], [y], clone=True)
    make_portable(fgraph)
    assert [node.op for node in fgraph.toposort()] == [pt.log, pt.exp]
