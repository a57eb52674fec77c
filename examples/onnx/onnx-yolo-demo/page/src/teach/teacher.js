/**
 * Teaching: the built-in detector learns more classes from pictures in which they are marked.
 *
 * What it knows stays: the new classes get a second head (tools/teaching.py), which the worker
 * trains (teaching.js). Afterwards detector and second head are one model, which is loaded like any
 * other, and can be saved.
 *
 * @import {Model} from "../page/model.js"
 * @import {TeachInfo} from "./teaching.js"
 */
import { assetBytes, assetJson, hasAsset } from "../page/assets.js";
import { loadBuiltin, loadModel } from "../page/loading.js";
import { alone, teach as ask, builtinModel, model } from "../page/model.js";
import { demo } from "../page/status.js";
import { failure } from "../worker/failure.js";
import { readFacts } from "../worker/onnx_read.js";
import { withHead, withMetadata, writeNames } from "./onnx_edit.js";

/**
 * @typedef {{x1: number, y1: number, x2: number, y2: number, label: string}} Box In pixels of its
 *   picture.
 * @typedef {{bitmap: ImageBitmap, boxes: Box[]}} Example A picture without boxes shows what is none
 *   of the classes.
 * @typedef {{step: number, steps: number, loss: number}} Step
 * @typedef {{stopped: boolean, seconds: number, steps: number, firstLoss: number,
 *   lastLoss: number}} Outcome
 */

/** @type {{model: Model, bytes: Uint8Array<ArrayBuffer>, labels: string[]}|null} What was taught last. */
let result = null;
let teaching = false;
let stopped = false;

const isTaught = () => result !== null && model.current === result.model;

function unavailable() {
  if (!hasAsset("teach-info")) return "The page was built with a model that cannot be taught.";
  if (model.current && !model.current.builtin && !isTaught()) {
    return "Only the built-in model can be taught: choose it first.";
  }
  return "";
}

/** @param {Example[]} examples @returns {string[]} The labels, in the order in which they come. */
function labelsOf(examples, maximum) {
  const wrong = (text) => failure("teach-failed", text);
  for (const [k, { bitmap, boxes }] of examples.entries()) {
    if (!bitmap.width) throw wrong(`picture ${k + 1} is closed; capture it again`);
    for (const { x1, y1, x2, y2, label } of boxes) {
      const inside = x1 >= 0 && y1 >= 0 && x2 <= bitmap.width && y2 <= bitmap.height;
      if (!(inside && x2 > x1 && y2 > y1)) {
        throw wrong(`a box of picture ${k + 1} is empty or not within the picture; mark it anew`);
      }
      if (typeof label !== "string" || !label.trim()) {
        throw wrong(`a box of picture ${k + 1} has no name; give it one`);
      }
    }
  }
  const labels = [...new Set(examples.flatMap(({ boxes }) => boxes.map(({ label }) => label)))];
  if (!labels.length) throw wrong("no object is marked; mark some in the pictures");
  if (labels.length > maximum) {
    throw wrong(`${labels.length} names are given; at most ${maximum} can be taught at once`);
  }
  return labels;
}

/** Detector and second head as one ONNX file. */
async function join(bytes, names, info, part, labels, weights) {
  const all = [...new Set([...names, ...labels])];
  // The row behind the last one stands for a class that the head doesn't have.
  const rows = (own, none) =>
    BigInt64Array.from(all, (name) => BigInt(own.includes(name) ? own.indexOf(name) : none));
  const numbers = [
    { name: "known", dims: [all.length], data: rows(names, names.length) },
    { name: "learned", dims: [all.length], data: rows(labels, info.classes) },
  ];
  const constants = [...numbers, ...weights].map((c) => ({ ...c, name: `taught/${c.name}` }));
  const joined = withHead(bytes, await assetBytes(`teach-${part}-head`), constants);
  // Nobody has measured it with what it has learned since.
  return withMetadata(joined, { names: writeNames(all), average_precision: "null" });
}

export const teacher = {
  /** @returns {string} Why the present model can't be taught; "" if it can. */
  available: unavailable,

  /** @returns {string[]} The labels that were taught to the model in use. */
  taught: () => (result && isTaught() ? [...result.labels] : []),

  /**
   * Teach the built-in model; it forgets what it was taught before.
   * @param {object} options
   * @param {Example[]} options.examples The pictures are not closed.
   * @param {string} [options.part] "whole": with boxes of its own; or "class", whose scores are of
   *   the first head's boxes.
   * @param {number} [options.steps] By default what "teach-info" recommends.
   * @param {number} [options.seed] A whole number, from which all chance follows.
   * @param {(progress: Step) => void} [options.onStep]
   * @returns {Promise<Outcome>}
   * @throws {Error} `.code` "teach-failed": what was given is wrong; "busy"; "cancelled": another model
   *   was loaded; and `Detector`'s.
   */
  async teach({ examples, part = "whole", steps, seed = 1, onStep = () => {} }) {
    const reason = unavailable();
    if (reason) throw failure("teach-failed", reason);
    if (teaching) throw failure("busy", "a lesson goes on; stop it first");
    teaching = true;
    stopped = false;
    try {
      return await lesson({ examples, part, steps, seed, onStep });
    } finally {
      teaching = false;
    }
  },

  /** End the lesson after the present step; what was learned so far is kept. */
  stop() {
    stopped = true;
  },

  /** Go back to the model as it was before it was taught anything. */
  async undo() {
    if (isTaught()) await loadBuiltin();
    result = null;
  },

  /** The taught model as one ONNX file. @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async save() {
    if (!result || !isTaught()) throw failure("teach-failed", "nothing was taught yet");
    return result.bytes.slice();
  },
};

async function lesson({ examples, part, steps: wanted, seed, onStep }) {
  const begun = performance.now();
  /** @type {TeachInfo} */
  const info = await assetJson("teach-info");
  if (!Object.hasOwn(info.parts, part)) throw failure("teach-failed", `there is no part "${part}"`);
  const labels = labelsOf(examples, info.classes);
  const steps = wanted ?? info.parts[part].steps;
  if (!Number.isInteger(steps) || steps < 1) {
    throw failure("teach-failed", `the number of steps is ${steps}; give a whole one from 1 on`);
  }
  const basis = model.current;
  const { bytes, facts } = await builtinModel(false).read("wasm");
  const step = await assetBytes(`teach-${part}-step`);
  const message = {
    type: "teach-begin",
    program: LESSON_TEXT,
    model: bytes,
    step,
    info,
    part,
    steps,
    seed,
    examples,
    labels,
  };
  await alone(() => ask(message));
  /** @type {number[]} */
  const losses = [];
  try {
    while (losses.length < steps && !(stopped && losses.length)) {
      if (model.current !== basis) throw failure("cancelled", "another model was loaded");
      const { loss } = await alone(() => ask({ type: "teach-step" }));
      losses.push(loss);
      onStep({ step: losses.length, steps, loss });
    }
  } catch (error) {
    // Else the worker would keep two models and many maps.
    await alone(() => ask({ type: "teach-end" })).catch(() => {});
    throw error;
  }
  const { weights } = await alone(() => ask({ type: "teach-end" }));
  const taught = await join(bytes, facts.names ?? [], info, part, labels, weights);
  const seconds = (performance.now() - begun) / 1000;
  await use(taught, labels);
  return {
    stopped: losses.length < steps,
    seconds,
    steps: losses.length,
    firstLoss: losses[0],
    lastLoss: losses[losses.length - 1],
  };
}

/** Detect with a taught model from now on. @param {Uint8Array<ArrayBuffer>} bytes @param {string[]} labels */
async function use(bytes, labels) {
  const read = async () => ({ bytes, facts: readFacts(bytes), noted: { taught: labels } });
  const own = { name: `built-in model, taught ${labels.join(", ")}`, builtin: false, read };
  result = { model: own, bytes, labels };
  await loadModel(own);
  if (!demo.info || model.current !== own) throw failure("cancelled", "another model was loaded");
}
