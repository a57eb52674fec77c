/**
 * Teaching the present model new classes, on this device.
 *
 * This page was built without the training step, and says so.
 */
import { failure } from "./failure.js";

/**
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string}} Box In pixels of its picture.
 * @typedef {{bitmap: ImageBitmap, boxes: Box[]}} Example
 * @typedef {{step: number, steps: number, loss: number}} Step
 * @typedef {{stopped: boolean, seconds: number, steps: number, firstLoss: number, lastLoss: number}} Outcome
 *
 * @typedef {object} Teacher
 * @property {() => string} available "", or a sentence why the present model can't be taught.
 * @property {(task: {examples: Example[], part?: "class"|"head", steps: number, onStep: (step: Step) => void})
 *   => Promise<Outcome>} teach Afterwards the detector knows the taught classes.
 * @property {() => void} stop End after the present step; what was learned so far is kept.
 * @property {() => void|Promise<void>} undo Drop what was taught.
 * @property {() => string[]} taught The taught labels.
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} save The taught model as an ONNX file.
 */

const ABSENT = "This page was built without its training step.";

/** @returns {Promise<never>} */
async function refuse() {
  throw failure("teach-failed", ABSENT);
}

/** @type {Teacher} */
export const teacher = {
  available: () => ABSENT,
  teach: refuse,
  stop: () => {},
  undo: () => {},
  taught: () => [],
  save: refuse,
};
