"""Tables of converters: of Ops to ONNX, and of ONNX's operators to Ops.

``@table.register(...)`` adds a converter, ``table.dispatch(...)`` finds it, and ``table.registry``
has all that were added. Converters that few graphs need are in ``pytensor.link.onnx.extras`` and
``contrib``. A table imports their modules when it meets such an Op or operator; `load` imports all.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial

from pytensor.link.conversions import Conversions, import_all
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError


class OperatorConverters:
    """Converters by the name of an ONNX operator, which are called with a node that is read.

    Parameters
    ----------
    adapt : callable, optional
        What makes a converter of a function that is registered.
    modules : dict of (str, str or None) to str, optional
        For a domain and an operator, or a domain and None, the module or the package that registers
        their converters.
    """

    def __init__(
        self,
        adapt: Callable | None = None,
        modules: Mapping[tuple[str, str | None], str] | None = None,
    ) -> None:
        self._adapt = adapt or (lambda function: function)
        self._modules = dict(modules or {})
        self.registry: dict[tuple[str, str], Callable] = {}
        self._older: dict[tuple[str, str], dict[int, Callable]] = defaultdict(dict)

    def register(self, *op_types: str, domain: str = "", before: int | None = None) -> Callable:
        """Return what registers a converter of operators, in opsets `before` one if it is given.

        Raises
        ------
        ValueError
            If an operator has one already.
        """

        def add(function):
            converter = self._adapt(function)
            for op_type in op_types:
                if before is None:
                    found, key = self.registry, (domain, op_type)
                else:
                    found, key = self._older[domain, op_type], before
                if key in found:
                    raise ValueError(f"there are two converters of {op_type} of {domain!r}")
                found[key] = converter
            return function

        return add

    def dispatch(self, op_type: str, domain: str = "", opset: int | None = None) -> Callable | None:
        """Return the converter of an operator in an opset, by default the newest, or None."""
        key = domain, op_type
        for met in (key, (domain, None)):
            if key not in self.registry and met in self._modules:
                import_all(self._modules[met])
        older = self._older.get(key, {}) if opset is not None else {}
        later = [before for before in older if opset < before]
        return older[min(later)] if later else self.registry.get(key)

    def forms(self, op_type: str, domain: str = "") -> dict[int | None, Callable]:
        """Return an operator's converters by the opset `before` which each holds, or None."""
        newest = {None: self.registry[domain, op_type]}
        return dict(sorted(self._older.get((domain, op_type), {}).items())) | newest

    def load(self) -> None:
        """Import all modules, so that `registry` is complete."""
        for module in self._modules.values():
            import_all(module)


# Ops that few graphs have, by the modules that define them
EXTRAS = {
    "pytensor.scalar.math": "pytensor.link.onnx.extras.special",
    "pytensor.tensor.linalg": "pytensor.link.onnx.extras.linalg",
    "pytensor.tensor.random": "pytensor.link.onnx.extras.random",
    "pytensor.tensor.recurrent": "pytensor.link.onnx.extras.recurrent",
}
# Ops of packages that may be missing
OTHERS = {"pytensor_ml.layers.conv": "pytensor.link.onnx.pytensor_ml"}


@partial(Conversions, modules=EXTRAS, others=OTHERS)
def onnx_funcify(op, node, *inputs):
    """Write the ONNX nodes of a PyTensor node.

    Register a function for the class of an `Op` to support it, or to replace our own::

        @onnx_funcify.register(MyOp)
        def onnx_funcify_MyOp(op, node, x):
            return x.node("Relu")

    Parameters
    ----------
    op : Op
    node : Apply
        For the types of inputs and outputs, and for constant inputs.
    inputs : Term
        The ONNX values of ``node.inputs``; a `Generator` for a random generator, None for other
        inputs that are no tensors.  An Op without any of these gets the `GraphBuilder`.

    Returns
    -------
    Term or tuple of Term
        The ONNX values of ``node.outputs``.

    Raises
    ------
    ConversionError
        Where ONNX cannot say what the node computes.
    """
    raise ConversionError(f"{NO_CONVERTER} for this Op")
