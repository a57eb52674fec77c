/**
 * Changes of ONNX files: more outputs, and a second head behind a detector.
 *
 * Of the format only what changes is written; all other bytes stay as they are. A message is its
 * fields one after another, so that lists are extended by appending.
 */
import { fieldsOf, METADATA_PROPS } from "../worker/onnx_read.js";

const GRAPH = 7; // of onnx.ModelProto
const [NODE, INITIALIZER, INPUT, OUTPUT, VALUE_INFO] = [1, 5, 11, 12, 13]; // of onnx.GraphProto
const NAME = 8; // of onnx.TensorProto
const FLOAT = 1;
const INT64 = 7;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {Uint8Array[]} parts */
function join(parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** @param {number} value Of a key, a length or a size. */
function writeNumber(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

/** A field: a number, a text, or the fields of a message. */
function field(id, /** @type {number|string|Uint8Array} */ content) {
  if (typeof content === "number") return join([writeNumber(id * 8), writeNumber(content)]);
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return join([writeNumber(id * 8 + 2), writeNumber(bytes.length), bytes]);
}

/** An output of floats, whose shape the runtime works out. */
function valueInfo(name) {
  return join([field(1, name), field(2, field(1, field(1, FLOAT)))]);
}

/** @param {{name: string, dims: readonly number[], data: Float32Array|BigInt64Array}} constant */
function tensor({ name, dims, data }) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const kind = data instanceof Float32Array ? FLOAT : INT64;
  return join([
    ...dims.map((dim) => field(1, dim)),
    field(2, kind),
    field(NAME, name),
    field(9, bytes),
  ]);
}

/** The graph of an ONNX file. @param {Uint8Array} model */
function graphOf(model) {
  return join([...fieldsOf(model)].filter((f) => f.field === GRAPH).map((f) => f.content));
}

/** The same file with another graph. @param {Uint8Array} model @param {Uint8Array} graph */
function withGraph(model, graph) {
  const others = [...fieldsOf(model)].filter((f) => f.field !== GRAPH).map((f) => f.whole);
  return join([...others, field(GRAPH, graph)]);
}

/**
 * The same model with more of its tensors as outputs.
 * @param {Uint8Array} model An ONNX file.
 * @param {string[]} names Of tensors of floats.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function withOutputs(model, names) {
  const outputs = names.map((name) => field(OUTPUT, valueInfo(name)));
  return withGraph(model, join([graphOf(model), ...outputs]));
}

/**
 * A detector and its second head as one model, whose only output is the head's.
 * @param {Uint8Array} model The detector's ONNX file.
 * @param {Uint8Array} head An ONNX file whose names are its own, but for the detector's tensors.
 * @param {{name: string, dims: readonly number[], data: Float32Array|BigInt64Array}[]} constants
 *   What the head's other inputs are.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function withHead(model, head, constants) {
  const kept = [...fieldsOf(graphOf(model))].filter((f) => f.field !== OUTPUT);
  const added = [...fieldsOf(graphOf(head))].filter((f) =>
    [NODE, INITIALIZER, OUTPUT].includes(f.field),
  );
  const weights = constants.map((constant) => field(INITIALIZER, tensor(constant)));
  return withGraph(model, join([...[...kept, ...added].map((f) => f.whole), ...weights]));
}

/**
 * The same weights for another size of input.
 * @param {Uint8Array} model
 * @param {Uint8Array} patch An onnx.GraphProto of what differs; see tools/sizes.py.
 */
export function withSize(model, patch) {
  const nameOf = (constant) => {
    const name = [...fieldsOf(constant)].find((f) => f.field === NAME);
    return name && decoder.decode(name.content);
  };
  const others = [...fieldsOf(patch)];
  const replaced = new Set(
    others.filter((f) => f.field === INITIALIZER).map((f) => nameOf(f.content)),
  );
  const isKept = ({ field: id, content }) =>
    ![INPUT, OUTPUT, VALUE_INFO].includes(id) &&
    !(id === INITIALIZER && replaced.has(nameOf(content)));
  const kept = [...fieldsOf(graphOf(model))].filter(isKept);
  return withGraph(model, join([...kept, ...others].map((f) => f.whole)));
}

/**
 * The same model with other entries in its metadata.
 * @param {Uint8Array} model
 * @param {Record<string, string>} entries
 */
export function withMetadata(model, entries) {
  const isReplaced = (content) =>
    [...fieldsOf(content)].some(
      (f) => f.field === 1 && Object.hasOwn(entries, decoder.decode(f.content)),
    );
  const kept = [...fieldsOf(model)].filter(
    (f) => f.field !== METADATA_PROPS || !isReplaced(f.content),
  );
  const pairs = Object.entries(entries).map(([key, value]) =>
    field(METADATA_PROPS, join([field(1, key), field(2, value)])),
  );
  return join([...kept.map((f) => f.whole), ...pairs]);
}

/** Class names as exports of detectors write them: a Python dictionary. @param {string[]} names */
export function writeNames(names) {
  const hexadecimal = (letter) => letter.charCodeAt(0).toString(16).padStart(2, "0");
  const quoted = names.map((name, row) => {
    const escaped = name.replace(/[\\']/g, "\\$&");
    return `${row}: '${escaped.replace(/\p{Cc}/gu, (letter) => `\\x${hexadecimal(letter)}`)}'`;
  });
  return `{${quoted.join(", ")}}`;
}
