"""``mode="ONNX"``: PyTensor functions that onnxruntime runs.

Importing this module needs neither ``onnx`` nor ``onnxruntime``; compiling a function does.
"""

import warnings
from collections.abc import Sequence
from copy import copy
from importlib import import_module
from types import ModuleType
from typing import Any

from pytensor.link.basic import JITLinker
from pytensor.link.onnx.errors import DroppedRandomStateWarning
from pytensor.link.onnx.settings import INCOMPATIBLE_REWRITES, OPSETS, REQUIRED_REWRITES


class ONNXLinker(JITLinker):
    """Compile a graph to an ONNX model and run it with onnxruntime.

    Shared variables are inputs of the model and their updates outputs, so a training step works
    as in any other mode.  Random variables draw from onnxruntime's generators: seeded by the
    state that a generator has at compilation, and not NumPy's stream.

    Parameters
    ----------
    opset_version : int
        Version of ONNX's operator set, 18 to 24.
    providers : str, or sequence of (str or tuple of str and dict), optional
        onnxruntime's execution providers in order of preference; default the CPU's.
    session_options : onnxruntime.SessionOptions, optional
    optimize : bool
        Whether to simplify the ONNX graph.

    Examples
    --------
    One thread, instead of as many as there are cores:

    >>> import onnxruntime
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.compile.mode import Mode
    >>> from pytensor.link.onnx import ONNXLinker
    >>> options = onnxruntime.SessionOptions()
    >>> options.intra_op_num_threads = 1
    >>> x = pt.vector("x", dtype="float32")
    >>> f = pytensor.function([x], 2 * x, mode=Mode(ONNXLinker(session_options=options)))
    >>> f([1, 2])
    array([2., 4.], dtype=float32)
    """

    required_rewrites = REQUIRED_REWRITES
    incompatible_rewrites = INCOMPATIBLE_REWRITES

    def __init__(
        self,
        *args: Any,
        opset_version: int = 20,
        providers: str | Sequence[str | tuple[str, dict[str, Any]]] = ("CPUExecutionProvider",),
        session_options: Any = None,
        optimize: bool = True,
        **kwargs: Any,
    ) -> None:
        if opset_version not in OPSETS:
            raise ValueError(f"opset_version must be one of {list(OPSETS)}, got {opset_version!r}")
        self.opset_version = opset_version
        self.providers = [providers] if isinstance(providers, str) else list(providers)
        self.session_options = session_options
        self.optimize = optimize
        super().__init__(*args, **kwargs)

    def accept(self, fgraph: Any, *args: Any, **kwargs: Any) -> Any:
        if self.fgraph is None or self.fgraph is fgraph:
            return super().accept(fgraph, *args, **kwargs)
        other = copy(self)
        other.fgraph = None
        return other.accept(fgraph, *args, **kwargs)

    def fgraph_convert(
        self, fgraph: Any, order: Any, input_storage: Any, output_storage: Any, storage_map: Any,
        **kwargs: Any,
    ) -> Any:  # fmt: skip
        onnxruntime = require_onnxruntime("mode='ONNX'")
        from pytensor.link.onnx import load
        from pytensor.tensor.random.type import RandomType

        if not fgraph.outputs:
            return lambda *values: None
        generators = {v: storage_map[v][0] for v in fgraph.inputs if isinstance(v.type, RandomType)}
        if generators:
            warnings.warn(
                f"mode ONNX draws random numbers of its own, seeded by what {list(generators)} are "
                "now; it neither reads nor changes their states afterwards",
                DroppedRandomStateWarning,
                stacklevel=2,
            )
        # A generator that is given at run time has no state yet.
        known = {v: state for v, state in generators.items() if state is not None}
        model, runner = load("front.convert", "mode='ONNX'").compile_fgraph(
            fgraph, opset=self.opset_version, optimize=self.optimize, generators=known
        )
        # onnxruntime itself would only warn, and take another one.
        available = onnxruntime.get_available_providers()
        for provider in self.providers:
            name = provider if isinstance(provider, str) else provider[0]
            if name not in available:
                raise ValueError(f"onnxruntime here has no {name}, only {available}")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), self.session_options, self.providers
        )
        return runner(session)

    def jit_compile(self, fn: Any) -> Any:
        # onnxruntime has compiled the model when it made the session.
        return fn

    def create_thunk_inputs(self, storage_map: Any) -> Any:
        return [storage_map[variable] for variable in self.fgraph.inputs]  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(opset_version={self.opset_version})"


def require_onnxruntime(what: str) -> ModuleType:
    """Import onnxruntime, and onnx, or say for what they are needed."""
    try:
        import_module("onnx")
        return import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{what} needs the package {error.name!r}: pip install onnx onnxruntime",
            name=error.name,
        ) from error
