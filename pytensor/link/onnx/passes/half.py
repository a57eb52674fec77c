"""Half precision: float16 weights and arithmetic in a model that takes and returns float32."""

import numpy as np

from pytensor.link.onnx.ir import Node, Value

# Sums over many elements, quotients of them and exponentials lose too much, or overflow beyond
# 65504; random numbers and ranges would have another step, and positions another sine.
KEPT_IN_FLOAT32 = frozenset(
    {
        "BatchNormalization",
        "Cos",
        "CumSum",
        "DFT",
        "Det",
        "Erf",
        "Exp",
        "GRU",
        "GroupNormalization",
        "InstanceNormalization",
        "LSTM",
        "LayerNormalization",
        "Log",
        "LogSoftmax",
        "LpPool",
        "Multinomial",
        "Pow",
        "RMSNormalization",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Range",
        "Reciprocal",
        "ReduceL2",
        "ReduceLogSumExp",
        "ReduceMean",
        "ReduceProd",
        "ReduceSum",
        "ReduceSumSquare",
        "Sin",
        "Softmax",
        "Softplus",
        "Sum",
        "Tan",
    }
)
# What makes numbers that float16 may not hold, what brings such numbers back, and what doesn't.
LARGE = frozenset(
    {
        "CumSum",
        "Exp",
        "Pow",
        "Reciprocal",
        "ReduceL2",
        "ReduceProd",
        "ReduceSum",
        "ReduceSumSquare",
    }
)
SCALING = frozenset({"Div", "Mul", "Sqrt"})
PASSING = frozenset(
    {
        "Abs",
        "Add",
        "Concat",
        "Expand",
        "Gather",
        "GatherElements",
        "GatherND",
        "Identity",
        "Max",
        "Min",
        "Neg",
        "ReduceMax",
        "ReduceMin",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "Sub",
        "Tile",
        "Transpose",
        "Unsqueeze",
        "Where",
    }
)
# Dtypes whose values float16 has, but for rounding.
HELD_BY_HALF = frozenset({"bool", "int8", "uint8", "float16", "float32"})
# Inputs that ONNX wants in float32 whatever the dtype of the others is.
ALWAYS_FLOAT32 = {"Resize": (1, 2)}


def convert_to_half(graph, keep=KEPT_IN_FLOAT32):
    """Compute in float16 what is computed in float32, in a graph with the types of all values.

    Inputs and outputs of the model stay as they are.  The operators in `keep` stay too, and so do
    those with subgraphs, those that read a constant which float16 doesn't hold (beyond 65504 or,
    without being zero, below 6e-8), casts of integers and doubles, and what moves, adds up or
    scales inputs of the model and results of sums and powers, of those constants or of those casts.
    Other float32 values are compared and cast to other dtypes as they are.
    """
    nodes = graph.nodes
    graph.nodes = []
    converter = _Converter(graph)
    for node in nodes:
        names = [_kind(node), *(n.op_type for body in node.subgraphs for n in body.all_nodes())]
        # onnxruntime has no kernel that adds what is scattered in float16.
        # thoughts/upstream/onnxruntime-missing-kernels.md
        adds = node.attributes.get("reduction", "none") != "none"
        single = bool(keep.intersection(names)) or bool(node.subgraphs) or adds
        single = single or any(converter.is_out_of_range(name) for name in node.inputs)
        single = single or converter.is_large(node)
        converter.convert(node, single)


def _kind(node):
    """Return a node's operator, Pow for a product of a value with itself."""
    is_square = node.op_type == "Mul" and node.inputs[0] == node.inputs[1]
    return "Pow" if is_square else node.op_type


class _Converter:
    """Knows for each float32 value what holds it in either precision."""

    def __init__(self, graph):
        self.graph = graph
        self.halves = {}
        self.singles = {}
        self.computed_in_half = set()
        self.large = {v for v in graph.inputs if self.is_single(v)} - graph.parameters

    def is_single(self, name):
        return bool(name) and self.graph.dtype(name) == "float32"

    def is_out_of_range(self, name):
        array = self.graph.initializers.get(name)
        if array is None or array.dtype != "float32":
            return False
        with np.errstate(over="ignore", under="ignore"):
            half = array.astype("float16")
        return bool((np.isinf(half) & ~np.isinf(array)).any() or ((half == 0) & (array != 0)).all())

    def is_large(self, node):
        """Return whether a node reads what float16 may not hold, though it holds the result."""
        if node.op_type == "Cast" and self.graph.dtype(node.inputs[0]) not in HELD_BY_HALF:
            return self.graph.dtype(node.inputs[0]) is not None
        if not any(map(self.is_single, node.outputs)):
            return not self.computed_in_half.issuperset(self.read(node))
        return node.op_type in SCALING | PASSING and not self.large.isdisjoint(node.inputs)

    def read(self, node):
        """Return the float32 values that a node reads, without constants."""
        return [v for v in node.inputs if self.is_single(v) and self.graph.constant(v) is None]

    def makes_large(self, node):
        """Return whether float16 may not hold what a node computes in float32."""
        if _kind(node) in LARGE or node.op_type == "Cast":  # of numbers of elements, for example
            return True
        if node.op_type in PASSING and not self.large.isdisjoint(node.inputs):
            return True
        only_large = node.op_type in ("Div", "Mul") and self.large.issuperset(self.read(node))
        return only_large or any(map(self.is_out_of_range, node.inputs))

    def half(self, name):
        if name not in self.halves:
            self.halves[name] = self._cast(name, "float16")
        return self.halves[name]

    def single(self, name):
        if name in self.computed_in_half:
            if name not in self.singles:
                self.singles[name] = self._cast(self.halves[name], "float32")
            return self.singles[name]
        return name

    def _cast(self, name, to):
        graph = self.graph
        if graph.constant(name) is not None:
            half = graph.add_initializer(f"{name}_half", graph.initializers[name].astype(to))
            if graph.parameter_of(name) is not None:
                graph.origin[half] = graph.parameter_of(name)
            return half
        cast = graph.fresh_name(f"{name}_{to}")
        graph.nodes.append(Node("Cast", [name], [cast], {"to": np.dtype(to)}, name=cast))
        graph.values[cast] = Value(to, graph.shape(name))
        return cast

    def convert(self, node, single):
        graph = self.graph
        if single:
            # What a body captures is looked up by name: keep the name for float32.
            captured = {name: self.single(name) for name in node.reads() if self.is_single(name)}
            for body in node.subgraphs:
                body.rename(captured)
            node.inputs = [captured.get(name, name) for name in node.inputs]
            if self.makes_large(node):
                self.large.update(filter(self.is_single, node.outputs))
            graph.nodes.append(node)
            return
        always = ALWAYS_FLOAT32.get(node.op_type, ())
        node.inputs = [
            self.half(name) if self.is_single(name) and position not in always else name
            for position, name in enumerate(node.inputs)
        ]
        for key, value in node.attributes.items():
            if isinstance(value, np.dtype) and value == "float32":
                node.attributes[key] = np.dtype("float16")
            elif isinstance(value, np.ndarray) and value.dtype == "float32":
                node.attributes[key] = value.astype("float16")
        renamed = []
        for name in node.outputs:
            if self.is_single(name):
                half = graph.fresh_name(f"{name}_half")
                self.halves[name] = half
                self.computed_in_half.add(name)
                graph.values[half] = Value("float16", graph.shape(name))
                renamed.append((half, name))
        node.rename({name: half for half, name in renamed})
        graph.nodes.append(node)
        for half, name in renamed:
            if name in graph.outputs:
                graph.nodes.append(
                    Node("Cast", [half], [name], {"to": np.dtype("float32")}, name=f"{name}_cast")
                )
                self.singles[name] = name
