from pytensor.conditional.op import IfElse
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import Term


@onnx_funcify.register(IfElse)
def onnx_funcify_IfElse(op, node, condition, *values):
    builder, branches = condition.builder, {}
    for key, terms in (("then_branch", values[: op.n_outs]), ("else_branch", values[op.n_outs :])):
        with builder.subgraph() as branches[key]:
            for term, output in zip(terms, node.outputs, strict=True):
                # A random generator's state is no value of the model.
                if isinstance(term, Term):
                    builder.output(term, output.type.shape)
    results = iter(builder.node("If", condition.cast("bool"), **branches))
    return tuple(
        next(results) if isinstance(value, Term) else value for value in values[: op.n_outs]
    )
