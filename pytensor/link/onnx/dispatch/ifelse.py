from pytensor.conditional.op import IfElse
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.builder import as_tuple


@onnx_funcify.register(IfElse)
def onnx_funcify_IfElse(op, node, builder, condition, *values):
    # A random generator's state is no value of the model.
    kept = [hasattr(output.type, "dtype") for output in node.outputs]
    branches = {}
    for key, names in (("then_branch", values[: op.n_outs]), ("else_branch", values[op.n_outs :])):
        with builder.subgraph() as branches[key]:
            for name, output, is_tensor in zip(names, node.outputs, kept, strict=True):
                if is_tensor:
                    builder.output(name, output.type.dtype, output.type.shape)
    condition = builder.cast(condition, node.inputs[0].type.dtype, "bool")
    results = builder.add("If", condition, **branches, n_outputs=sum(kept))
    results = iter(as_tuple(results))
    return tuple(
        next(results) if is_tensor else key for key, is_tensor in zip(values, kept, strict=False)
    )
