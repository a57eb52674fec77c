/**
 * A link that says what the page sees in a picture, for another page with the same model to compare:
 * hashes of the model's and of the picture's file, and the boxes. No picture is in it.
 *
 * It stands in the address as "proof", three parts with dots between: SHA-256 of the model's file and of
 * the picture's, and the boxes, six float32 each: corners, score, class. All are base64 of URLs.
 *
 * @import {NamedDetection} from "./drawing.js"
 */
import { inWords, isClose, outputDifference } from "../worker/agreement.js";
import { failure } from "../worker/failure.js";
import { byId } from "./environment.js";
import { model } from "./model.js";
import { isSeen, onStage } from "./stage.js";
import { demo } from "./status.js";
import { setText } from "./text.js";

/** What another page saw.
 * @typedef {{model: string, picture: string, boxes: Float32Array}} Proof
 */

const NUMBERS = 6; // of a box
const HASH_LETTERS = 43; // of a SHA-256

/** @type {Proof|null} */
let given = null; // of the address

// ------------------------------------------------------------------------ as a text

/** @param {Uint8Array} bytes @returns {string} */
function toText(bytes) {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
function fromText(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** @param {NamedDetection[]} detections @returns {Float32Array} */
export function boxesOf(detections) {
  const row = ({ x1, y1, x2, y2, score, classId }) => [x1, y1, x2, y2, score, classId];
  return Float32Array.from(detections.flatMap(row));
}

/** @param {Proof} proof */
export function writeProof({ model: hash, picture, boxes }) {
  const view = new DataView(new ArrayBuffer(4 * boxes.length));
  boxes.forEach((value, k) => {
    view.setFloat32(4 * k, value, true);
  });
  return `${hash}.${picture}.${toText(new Uint8Array(view.buffer))}`;
}

/** @param {string} text @returns {Proof|null} Null if it is none. */
export function readProof(text) {
  const isProof = new RegExp(`^([\\w-]{${HASH_LETTERS}})\\.([\\w-]{${HASH_LETTERS}})\\.([\\w-]*)$`);
  const [, hash, picture, boxes] = isProof.exec(text) ?? [];
  if (!hash || boxes.length % 4 === 1) return null;
  const bytes = fromText(boxes);
  if (bytes.length % (4 * NUMBERS)) return null;
  const view = new DataView(bytes.buffer);
  const values = Array.from({ length: bytes.length / 4 }, (_, k) => view.getFloat32(4 * k, true));
  return { model: hash, picture, boxes: Float32Array.from(values) };
}

// ------------------------------------------------------------------------ what is shown here

/** @param {Uint8Array<ArrayBuffer>|ArrayBuffer} bytes */
async function hashOf(bytes) {
  if (!crypto.subtle) {
    throw failure("runtime", "the browser hashes files only on pages from disk or by https");
  }
  return toText(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Hashes of the files that the stage's picture and the present model come from. */
async function presentHashes() {
  const file = onStage()?.file;
  const { current } = model;
  if (!file || !current || !demo.info) return null;
  const { bytes } = await current.read(demo.info.backend);
  const copy = /** @type {Uint8Array<ArrayBuffer>} */ (bytes);
  return { model: await hashOf(copy), picture: await hashOf(await file.arrayBuffer()) };
}

/**
 * @returns {Promise<string>} What the page sees in the picture on the stage.
 * @throws {Error} If there is no picture of a file, with its detections.
 */
export async function presentProof() {
  const { last } = demo;
  const hashes = isSeen() ? await presentHashes() : null;
  if (!hashes || last !== demo.last) {
    throw failure("no-proof", "show a picture from a file first: of a camera there is no file");
  }
  return writeProof({ ...hashes, boxes: boxesOf(last.detections) });
}

/** @param {Proof} proof @returns {Promise<string>} How it compares with what is on the stage. */
async function comparison({ model: hash, picture, boxes }) {
  const count = boxes.length / NUMBERS;
  const said = `The link tells of ${count} ${count === 1 ? "box" : "boxes"}`;
  const { last } = demo;
  const hashes = isSeen() ? await presentHashes() : null;
  if (!hashes) return `${said}: open the picture that it was made with to compare.`;
  if (hashes.model !== hash) return `${said} of another model: open its file to compare.`;
  if (hashes.picture !== picture) {
    return `${said} in another picture: open the file that it was made with to compare.`;
  }
  const difference = outputDifference(boxesOf(last.detections), boxes, "finished", NUMBERS);
  const same = `same model, same picture, ${last.detections.length} boxes here`;
  if (!Number.isFinite(difference.box)) return `${said}; ${same}: they are not the same boxes.`;
  const verdict = isClose(difference) ? "both pages see the same" : "the pages see different boxes";
  return `${said}; ${same}: ${verdict}, largest difference ${inWords(difference)}.`;
}

/** Compare what is on the stage with what the address tells, if it tells of any. */
export async function compareProof() {
  byId("proof-note").hidden = !given;
  if (!given) return;
  const { last } = demo;
  const text = await comparison(given);
  if (last === demo.last) setText(byId("proof-note"), text);
}

/** @param {string|null} text Of the address. @returns {boolean} Whether it can be used. */
export function takeProof(text) {
  given = text ? readProof(text) : null;
  return !text || given !== null;
}
