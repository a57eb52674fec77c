/** Changes of ONNX files: more outputs, and a second head behind a detector. */
import { fieldsOf, METADATA_PROPS } from "../worker/onnx_read.js";
import {
  field,
  graphOf,
  INITIALIZER,
  join,
  NAME,
  NODE,
  OUTPUT,
  withGraph,
} from "../worker/onnx_write.js";

const FLOAT = 1; // of onnx.TensorProto.DataType
const INT64 = 7;

const decoder = new TextDecoder();

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
