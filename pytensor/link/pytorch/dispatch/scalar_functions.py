from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.scalar.as_written import AsWritten


@pytorch_funcify.register(AsWritten)
def pytorch_funcify_AsWritten(op, **kwargs):
    return pytorch_funcify(op.scalar_op, **kwargs)
