from pytensor.graph.fg import AbstractFunctionGraph
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.utils import fgraph_to_python


@jax_funcify.register(AbstractFunctionGraph)
def jax_funcify_FunctionGraph(
    fgraph, node=None, fgraph_name="jax_funcified_fgraph", convert_node=None, **kwargs
):
    """As PyTensor's, with a choice of what converts the nodes: see `TunedJAXLinker`."""
    if convert_node is not None:
        kwargs |= {"convert_node": convert_node, "within": fgraph}
    return fgraph_to_python(
        fgraph,
        convert_node or jax_funcify,
        type_conversion_fn=jax_typify,
        fgraph_name=fgraph_name,
        **kwargs,
    )
