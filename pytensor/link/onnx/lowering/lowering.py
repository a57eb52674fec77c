"""From a PyTensor graph to ONNX nodes: what `export_onnx` writes and mode "ONNX" runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import onnx
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.lowering.interface import input_dims, interface_names, name_output_dims
from pytensor.link.onnx.lowering.rewriting import checks_in, rewrite_for_onnx
from pytensor.link.onnx.lowering.rows import warn_of_mixed_rows
from pytensor.link.onnx.lowering.source import Source, generators_of
from pytensor.link.onnx.passes import NECESSARY, PASSES, run_passes
from pytensor.link.onnx.passes.half import convert_to_half
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.link.onnx.write.serialize import infer_types, to_model
from pytensor.tensor.random.type import RandomType


@dataclass(frozen=True)
class Options:
    """How a graph is lowered; what isn't described here is as in `export_onnx`.

    Attributes
    ----------
    rewrite : {"all", "loops", "none"}
        Where PyTensor's rewrites have still to be run: on the graph and the steps of its loops, on
        these steps alone, or nowhere.
    simplify : bool
        Whether all passes are run, or only those without which the model would be wrong.
    checks : {"drop", "outputs", "error", "raise"}
        "raise" makes the conditions outputs, too; the caller raises the errors of those that fail.
    random : {"runtime", "counter", "state"}
        "state" makes the states of generators an input, 64 bits for each, that decide its draws.
    """

    opset: int = 20
    rewrite: Literal["all", "loops", "none"] = "all"
    simplify: bool = True
    exact: bool = False
    swish: bool = False
    checks: Literal["drop", "outputs", "error", "raise"] = "drop"
    random: Literal["runtime", "counter", "state"] = "runtime"
    parameters_are_inputs: bool = False
    trace: bool = False


class Lowering:
    """The ONNX graph of a `Source`, whose graph is rewritten in place.

    Parameters
    ----------
    source : Source
    options : Options
    input_names, output_names, dynamic_axes
        See `export_onnx`.

    Attributes
    ----------
    graph : Graph
        What passes have left of the nodes.
    input_names, output_names : list of str
    arguments : list of (Variable, str)
        The inputs with their names; the last one is the seed, or the states, if draws have one.
    checks : dict of str to CheckAndRaise
        Further outputs, which are true where a check holds.
    generators : list of str
        The random generators whose draws the model replaces by its own.
    origins : dict of str to Apply
        The PyTensor node for each prefix of the ONNX nodes' names.

    Raises
    ------
    UnsupportedOpError
        Listing every node that can't be written, and the reason.
    ValueError, TypeError
        If names don't fit the graph, or an input is of a type that ONNX doesn't have.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        *,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        dynamic_axes: Mapping[str, Any] | None = None,
    ) -> None:
        self.source, self.options = source, options
        fgraph, inputs, dynamic_axes = source.fgraph, source.arguments, dynamic_axes or {}
        self.input_names, self.output_names = interface_names(
            inputs, fgraph.outputs, input_names, output_names
        )
        self._sizes = input_dims(inputs, self.input_names, dynamic_axes, self.output_names)
        self.arguments = list(zip(inputs, self.input_names, strict=True))
        rows = {v: name for v, name in self.arguments if self._sizes[v][:1] == ("rows",)}
        if rows:
            warn_of_mixed_rows(fgraph.outputs, rows)
        self._known_checks = checks_in(fgraph)
        rewrite_for_onnx(fgraph, options.rewrite)
        builder = self.builder([*self.input_names, *self.output_names])
        if options.random == "counter":
            from pytensor.link.onnx.extras.random.counter import draw_by_counter

            names = [*self.input_names, *self.output_names]
            self.arguments.append(draw_by_counter(builder, names))
        if options.random == "state":
            from pytensor.link.onnx.extras.random.state import draw_by_state

            states = [v for v in fgraph.inputs if isinstance(v.type, RandomType)]
            self.arguments.append(draw_by_state(builder, states))
        outputs = list(zip(fgraph.outputs, self.output_names, strict=True))
        builder.write(self.arguments, source.parameters, outputs)
        self.checks = builder.write_checks()
        self.graph, self.origins = builder.graph, builder.origins
        name_output_dims(self.graph, dynamic_axes)
        left_out = generators_of(source.states.values())
        drawn = [] if builder.draws else generators_of(fgraph.outputs)
        self.generators = sorted({*left_out, *drawn})
        self._simplify()

    def builder(self, names: Sequence[str]) -> GraphBuilder:
        """Return a builder of nodes with these options, which gives no node one of `names`."""
        options = self.options
        return GraphBuilder(
            options.opset,
            names=names,
            parameters_are_inputs=options.parameters_are_inputs,
            dims=Dims(self.source.fgraph.shape_feature, self._sizes),
            trace=options.trace,
            checks=options.checks,
            known_checks=self._known_checks,
            exact=options.exact,
            swish=options.swish,
        )

    def _simplify(self) -> None:
        run_passes(self.graph, PASSES if self.options.simplify else NECESSARY)

    def to_half(self, kept: Any) -> None:
        """Hold float32 weights in float16 and compute in it, but for the operators `kept`."""
        infer_types(self.graph, self.options.opset)
        convert_to_half(self.graph, kept)
        self._simplify()

    def model(
        self,
        name: str = "pytensor",
        doc_string: str | None = None,
        metadata: Mapping[str, str] | None = None,
        *,
        with_types: bool = True,
    ) -> onnx.ModelProto:
        """Return the graph as a model; among its metadata are the messages of checks.

        `with_types` says whether the types of all values are worked out, for readers of the file;
        onnxruntime does so by itself.
        """
        messages = {name: f"{op.exc_type.__name__}({op.msg!r})" for name, op in self.checks.items()}
        if with_types:
            infer_types(self.graph, self.options.opset)
        return to_model(
            self.graph,
            opset=self.options.opset,
            model_name=name,
            doc_string=doc_string,
            metadata={**(metadata or {}), **messages},
        )
