"""``mode="ONNX"``: PyTensor functions that onnxruntime runs.

Importing this module needs neither ``onnx`` nor ``onnxruntime``; compiling a function does.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any, Literal

import numpy as np

from pytensor.link.basic import JITLinker
from pytensor.link.onnx.errors import run_error
from pytensor.link.onnx.settings import (
    INCOMPATIBLE_REWRITES,
    OPSETS,
    REQUIRED_REWRITES,
    require_onnxruntime,
)


class ONNXLinker(JITLinker):
    """Compile a graph to an ONNX model and run it with onnxruntime.

    Shared variables are inputs of the model and their updates outputs, so a training step works
    as in any other mode.  Random generators are one stream for all functions that draw from them,
    in all modes, but with other numbers than NumPy's.

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
        from pytensor.tensor.random.type import RandomType

        if not fgraph.outputs:
            return lambda *values: None
        draws = any(isinstance(v.type, RandomType) for v in fgraph.inputs)
        source, lowering = self._lower(fgraph, "state" if draws else "runtime")
        # onnxruntime itself would only warn, and take another one.
        available = onnxruntime.get_available_providers()
        for provider in self.providers:
            name = provider if isinstance(provider, str) else provider[0]
            if name not in available:
                raise ValueError(f"onnxruntime here has no {name}, only {available}")
        session = None
        if lowering.graph.outputs:  # else all that is returned are states of generators
            model = lowering.model(with_types=False).SerializeToString()
            session = onnxruntime.InferenceSession(model, self.session_options, self.providers)
        return _runner(fgraph, source, lowering, session)

    def _lower(self, fgraph: Any, random: Literal["runtime", "state"]) -> tuple[Any, Any]:
        """Return a copy of a graph, all of whose inputs are the model's, and its lowering."""
        from pytensor.link.onnx import load

        source = load("lowering.source", "mode='ONNX'")
        lowering = load("lowering.lowering", "mode='ONNX'")
        copied = source.copy_graph(fgraph.inputs, fgraph.outputs, {})
        options = lowering.Options(
            opset=self.opset_version,
            rewrite="loops",
            simplify=self.optimize,
            exact=True,
            checks="raise",
            random=random,
        )
        return copied, lowering.Lowering(copied, options)

    def jit_compile(self, fn: Any) -> Any:
        # onnxruntime has compiled the model when it made the session.
        return fn

    def create_thunk_inputs(self, storage_map: Any) -> Any:
        return [storage_map[variable] for variable in self.fgraph.inputs]  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(opset_version={self.opset_version})"


def _runner(fgraph: Any, source: Any, lowering: Any, session: Any) -> Any:
    """Return a function of a graph's inputs that runs a session of its model.

    Where an output is the state of a random generator, which no model has, it is computed here.
    """
    from pytensor.link.onnx.generators import advanced, origin_of, states_of
    from pytensor.tensor.random.type import RandomType

    positions = {v: i for i, v in enumerate(fgraph.inputs)}
    arguments = lowering.arguments
    generators = [i for v, i in positions.items() if isinstance(v.type, RandomType)]
    if generators:
        *arguments, (_, states_name) = arguments
    inputs = [(positions[source.originals[v]], name) for v, name in arguments]
    origins_of_states = {i: origin_of(v) for i, v in source.states.items()}
    states = {i: (positions[source.originals[v]], n) for i, (v, n) in origins_of_states.items()}
    names = [*lowering.checks, *lowering.output_names]
    checks, origins, n_outputs = lowering.checks, lowering.origins, len(fgraph.outputs)

    def run(*values: Any) -> list[Any]:
        feed = {name: np.asarray(values[position]) for position, name in inputs}
        if generators:
            feed[states_name] = states_of([values[position] for position in generators])
        try:
            results = iter(session.run(names, feed) if names else ())
        except Exception as error:
            raised = run_error(error, origins)
            if raised is None:
                raise
            raise raised from error
        for op in checks.values():
            if not next(results):
                raise op.exc_type(op.msg)
        return [
            advanced(values[states[i][0]], states[i][1]) if i in states else next(results)
            for i in range(n_outputs)
        ]

    return run
