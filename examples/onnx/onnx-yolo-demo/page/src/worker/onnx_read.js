/**
 * What an ONNX file says of its classes and thresholds.
 *
 * onnxruntime-web tells the inputs and outputs of a model, but not the metadata that an export
 * writes next to them. So those texts are read here; everything else in the file is stepped over.
 */
import { failure } from "./failure.js";

/**
 * @typedef {object} Facts
 * @property {string[]|null} names Of the classes; null where the file gives none.
 * @property {number} confidence What a score has to exceed, of a class that has no threshold.
 * @property {Record<string, number>} thresholds The same of classes, by their names.
 * @property {number} iou Overlap of the suppression.
 * @property {number|null} size Pixels of the input's side, which may be open in the file.
 * @property {string} trainedOn What the model has seen, such as "drawn pictures"; "" if the
 *   file doesn't say.
 * @property {string} licence Of its weights; "" if the file doesn't say.
 * @property {Scores|null} scores How well it does; null if the file doesn't say.
 */

/**
 * Average precision on pictures that were held out.
 * @typedef {object} Scores
 * @property {string} on What it was measured on.
 * @property {Record<string, {map50: number, map50_95: number}>} perClass By the classes' names.
 */

const LONGEST = 80; // letters of a text that is shown
export const METADATA_PROPS = 14; // field of onnx.ModelProto: pairs of a key (1) and a value (2)

/**
 * The fields of a protobuf message.
 * @param {Uint8Array} bytes
 * @returns {Generator<{field: number, content: Uint8Array, whole: Uint8Array}>} Numbers have no
 *   content; `whole` is the field with its key.
 */
export function* fieldsOf(bytes) {
  let at = 0;
  const broken = failure("model-broken", "this is not a complete ONNX file");
  const readNumber = () => {
    let value = 0;
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw broken;
  };
  while (at < bytes.length) {
    const start = at;
    const key = readNumber();
    const kind = key % 8;
    let length = { 1: 8, 5: 4 }[kind] ?? 0;
    if (kind === 0) readNumber();
    if (kind === 2) length = readNumber();
    if (![0, 1, 2, 5].includes(kind) || at + length > bytes.length) throw broken;
    const content = bytes.subarray(at, at + length);
    at += length;
    yield { field: Math.floor(key / 8), content, whole: bytes.subarray(start, at) };
  }
}

/**
 * @param {Uint8Array} bytes An ONNX file.
 * @returns {Record<string, string>} Its metadata.
 * @throws {Error} `.code` "model-broken".
 */
export function readMetadata(bytes) {
  const decoder = new TextDecoder();
  /** @type {Record<string, string>} */
  const metadata = {};
  for (const { field, content } of fieldsOf(bytes)) {
    if (field !== METADATA_PROPS) continue;
    const pair = ["", "", ""];
    for (const part of fieldsOf(content)) pair[part.field] = decoder.decode(part.content);
    metadata[pair[1]] = pair[2];
  }
  return metadata;
}

/** The text of a string as Python or JSON writes it, with its quotes. */
function unquote(quoted) {
  const inner = quoted.slice(1, -1).replace(/\\(?:x(..)|U(.{8})|.)|"/gs, (match, byte, code) => {
    if (byte) return `\\u00${byte}`;
    if (code) return String.fromCodePoint(Number.parseInt(code, 16));
    return { "\\'": "'", '"': '\\"' }[match] ?? match;
  });
  return JSON.parse(`"${inner}"`);
}

/**
 * Class names, in the order of their numbers.
 * @param {string} text A Python dictionary or list, or JSON.
 * @returns {string[]}
 * @throws {SyntaxError}
 */
export function parseNames(text) {
  const item = /(?:["']?(\d{1,6})["']?\s*:\s*)?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/gs;
  /** @type {string[]} */
  const names = [];
  const rest = text.replace(item, (_, number, name) => {
    names[number === undefined ? names.length : Number(number)] = unquote(name);
    return "";
  });
  if (!/^\s*(\{[\s,]*\}|\[[\s,]*\])\s*$/.test(rest)) throw new SyntaxError(text.slice(0, 80));
  return Array.from(names, (name, number) => name ?? `class ${number}`);
}

/**
 * What the build says of one form of a model: in floats, or in 8-bit integers.
 * @typedef {{file: string, export: string, sha256: string, bytes: number, weights: string,
 *   facts: Facts}} Form `export` is the SHA-256 of the file that all its forms were made of.
 */

/**
 * Whether two forms are of one model.
 * @param {Form} one
 * @param {Form} other
 * @returns {string} What differs; "" if they are.
 */
export function otherModel(one, other) {
  if (one.export !== other.export) return `made of ${other.file}, and not of the same export`;
  if (String(one.facts.names) !== String(other.facts.names)) return "with other classes";
  if (one.facts.size === other.facts.size) return "";
  return `for ${other.facts.size} pixels instead of ${one.facts.size}`;
}

const isShare = (value) => typeof value === "number" && value >= 0 && value <= 1;

/** A number from 0 to 1. */
function readThreshold(metadata, key, standard) {
  const text = String(metadata[key] ?? standard);
  const value = text.trim() ? Number(text) : Number.NaN;
  if (isShare(value)) return value;
  throw failure(
    "model-shape",
    `the model's metadata gives "${key}" as ${metadata[key]}; needed: a number from 0 to 1`,
  );
}

/** Numbers from 0 to 1 by the names of classes. @returns {Record<string, number>} */
function readThresholds({ thresholds = "{}" }) {
  const read = parseJson(thresholds);
  const isTable = typeof read === "object" && read !== null && !Array.isArray(read);
  if (isTable && Object.values(read).every(isShare)) return read;
  throw failure(
    "model-shape",
    `the model's metadata gives "thresholds" as ${thresholds.slice(0, LONGEST)}; needed: a number ` +
      'from 0 to 1 for each class, such as {"person": 0.3}',
  );
}

/** @returns {any} Undefined for what is no JSON. */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What the scores of each class have to exceed.
 * @param {string[]} names Of the classes.
 * @param {Facts} facts
 * @returns {number[]}
 */
export function thresholdsFor(names, { confidence, thresholds }) {
  return names.map((name) => (Object.hasOwn(thresholds, name) ? thresholds[name] : confidence));
}

/**
 * What a file says of its average precision; of another form than export.py's, or of a class that it
 * doesn't have, it says nothing.
 * @param {string|undefined} text
 * @param {string[]} names Of the classes.
 * @returns {Scores|null}
 */
function readScores(text = "null", names) {
  try {
    const { on, per_class: perClass } = JSON.parse(text);
    const isScore = (value) => value === null || isShare(value);
    const rows = Object.entries(perClass);
    const fits = rows.every(([name, { map50, map50_95 }]) => {
      return names.includes(name) && isScore(map50) && isScore(map50_95);
    });
    return fits && typeof on === "string" ? { on: on.slice(0, 3 * LONGEST), perClass } : null;
  } catch {
    return null;
  }
}

/**
 * @param {Uint8Array} bytes An ONNX file.
 * @returns {Facts}
 * @throws {Error} `.code` "model-broken" or "model-shape".
 */
export function readFacts(bytes) {
  const metadata = readMetadata(bytes);
  const side = /\d+/.exec(metadata.imgsz ?? "");
  const confidence = readThreshold(metadata, "conf", 0.25);
  const thresholds = readThresholds(metadata);
  const iou = readThreshold(metadata, "iou", 0.45);
  const size = side && Number(side[0]);
  try {
    const names = metadata.names === undefined ? null : parseNames(metadata.names);
    const trainedOn = (metadata.trained_on ?? "").slice(0, LONGEST);
    const licence = (metadata.license ?? "").slice(0, LONGEST);
    const scores = readScores(metadata.average_precision, names ?? []);
    const known = names?.length ? names : null;
    return { names: known, confidence, thresholds, iou, size, trainedOn, licence, scores };
  } catch (error) {
    throw failure(
      "model-shape",
      `the class names in the model's metadata cannot be read: ${metadata.names.slice(0, 80)}; ` +
        `needed is metadata "names" such as {0: 'person', 1: 'cell phone'}`,
      error,
    );
  }
}
