/**
 * Changes of ONNX files: another graph, another size of input.
 *
 * Of the format only what changes is written; all other bytes stay as they are. A message is its
 * fields one after another, so that lists are extended by appending.
 */
import { fieldsOf } from "./onnx_read.js";

const GRAPH = 7; // of onnx.ModelProto
export const [NODE, INITIALIZER, INPUT, OUTPUT, VALUE_INFO] = [1, 5, 11, 12, 13]; // of onnx.GraphProto
export const NAME = 8; // of onnx.TensorProto

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {Uint8Array[]} parts */
export function join(parts) {
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
export function field(id, /** @type {number|string|Uint8Array} */ content) {
  if (typeof content === "number") return join([writeNumber(id * 8), writeNumber(content)]);
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return join([writeNumber(id * 8 + 2), writeNumber(bytes.length), bytes]);
}

/** The graph of an ONNX file. @param {Uint8Array} model */
export function graphOf(model) {
  return join([...fieldsOf(model)].filter((f) => f.field === GRAPH).map((f) => f.content));
}

/** The same file with another graph. @param {Uint8Array} model @param {Uint8Array} graph */
export function withGraph(model, graph) {
  const others = [...fieldsOf(model)].filter((f) => f.field !== GRAPH).map((f) => f.whole);
  return join([...others, field(GRAPH, graph)]);
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
