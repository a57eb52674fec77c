/**
 * Small ONNX files for tests: detectors whose boxes are constants, and models that go wrong.
 *
 * Only what those need of the format is written. Graphs are lists of nodes, values plain arrays.
 */
import { field, join } from "../src/worker/onnx_write.js";

export { field };

const FLOAT = 1;
const INT64 = 7;
const BOOL = 9;

/** A message of fields. */
const message = (...parts) => join(parts.flat());

/** A constant of the graph. @param {Float32Array|BigInt64Array|boolean[]} values */
export function constant(name, dims, values, ...more) {
  const kinds = new Map([
    [Float32Array, FLOAT],
    [BigInt64Array, INT64],
  ]);
  const kind = kinds.get(values.constructor) ?? BOOL;
  const bytes = kind === BOOL ? Uint8Array.from(values) : new Uint8Array(values.buffer);
  const sizes = dims.map((dim) => field(1, dim));
  return message(sizes, field(2, kind), field(8, name), field(9, bytes), more);
}

/** A constant whose values lie in another file. */
export function externalConstant(name, dims, location) {
  const place = message(field(1, "location"), field(2, location));
  const sizes = dims.map((dim) => field(1, dim));
  return message(sizes, field(2, FLOAT), field(8, name), field(13, place), field(14, 1));
}

export function valueInfo(name, dims, kind = FLOAT) {
  const shape = message(dims.map((dim) => field(1, field(1, dim))));
  return message(field(1, name), field(2, field(1, message(field(1, kind), field(2, shape)))));
}

export function node(type, inputs, outputs, { domain = "", body = null, to = 0 } = {}) {
  return message(
    inputs.map((name) => field(1, name)),
    outputs.map((name) => field(2, name)),
    field(4, type),
    body ? field(5, message(field(1, "body"), field(6, body), field(20, 5))) : [],
    to ? field(5, message(field(1, "to"), field(3, to), field(20, 2))) : [],
    field(7, domain),
  );
}

function graph(nodes, constants, inputs, outputs) {
  return message(
    nodes.map((one) => field(1, one)),
    field(2, "test"),
    constants.map((one) => field(5, one)),
    inputs.map((one) => field(11, one)),
    outputs.map((one) => field(12, one)),
  );
}

/**
 * A detector that gives the same boxes for every picture.
 * @param {object} options
 * @param {number[][]} [options.boxes] Each centre x, centre y, width, height, scores of the classes.
 * @param {boolean} [options.columns] Whether each box is a row of the output, instead of a column.
 * @param {string[]} [options.names] Of the classes.
 * @param {number} [options.side] Of the input.
 * @param {Uint8Array[]} [options.inputs] By `valueInfo`, the picture first.
 * @param {number} [options.opset]
 * @param {Record<string, string>} [options.metadata]
 * @param {string[]} [options.domains] Besides ONNX's own.
 * @param {(graph: {nodes: Uint8Array[], constants: Uint8Array[]}) => void} [options.change] May add to the graph;
 *   the node that it ends in takes "mean", the mean of the picture, and gives "more", which is
 *   added to every number of the output.
 * @returns {Uint8Array} An ONNX file.
 */
export function detector({
  boxes = [[16, 16, 12, 12, 0.9, 0]],
  columns = false,
  names = ["green thing", "orange thing"],
  side = 32,
  inputs = [valueInfo("images", [1, 3, side, side])],
  opset = 18,
  metadata = {},
  domains = [],
  change = ({ nodes, constants }) => {
    constants.push(constant("zero", [1], new Float32Array(1)));
    nodes.push(node("Mul", ["mean", "zero"], ["more"]));
  },
} = {}) {
  const rows = columns ? boxes : boxes[0].map((_, row) => boxes.map((box) => box[row]));
  const dims = [1, rows.length, rows[0].length];
  const parts = {
    nodes: [node("ReduceMean", ["images"], ["means"]), node("Reshape", ["means", "one"], ["mean"])],
    constants: [
      constant("boxes", dims, Float32Array.from(rows.flat())),
      constant("one", [1], BigInt64Array.of(1n)),
    ],
  };
  change(parts);
  parts.nodes.push(node("Add", ["boxes", "more"], ["output0"]));
  const facts = { names: JSON.stringify(names), ...metadata };
  return message(
    field(1, 9),
    field(7, graph(parts.nodes, parts.constants, inputs, [valueInfo("output0", dims)])),
    ["", ...domains].map((domain) =>
      field(8, message(field(1, domain), field(2, domain ? 1 : opset))),
    ),
    Object.entries(facts).map(([key, value]) => field(14, message(field(1, key), field(2, value)))),
  );
}

/** A detector that comes to no end on bright pictures, or, from the beginning, on all. */
export function endlessDetector(always = false) {
  return detector({
    change({ nodes, constants }) {
      const body = graph(
        [node("Identity", ["go"], ["goOn"]), node("Mul", ["value", "value"], ["next"])],
        [],
        [valueInfo("turn", [], INT64), valueInfo("go", [], BOOL), valueInfo("value", [1])],
        [valueInfo("goOn", [], BOOL), valueInfo("next", [1])],
      );
      constants.push(
        constant("least", [1], Float32Array.of(always ? 0 : 0.7)),
        constant("many", [1], Float32Array.of(1e12)),
        constant("yes", [], [true]),
        constant("zero", [1], new Float32Array(1)),
      );
      nodes.push(
        node("Sub", ["mean", "least"], ["above"]),
        node("Relu", ["above"], ["brightness"]),
        node("Mul", ["brightness", "many"], ["product"]),
        node("Cast", ["product"], ["turns"], { to: INT64 }),
        node("Loop", ["turns", "yes", "mean"], ["end"], { body }),
        node("Mul", ["end", "zero"], ["more"]),
      );
    },
  });
}
