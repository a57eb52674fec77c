/**
 * The worker's part of teaching: a second head learns from pictures, step by step.
 *
 * The detector runs once for each picture and gives the maps that its head reads; a training step,
 * an ONNX model as well, takes a batch's and gives new weights. See tools/teaching.py.
 *
 * @import {Example} from "./teacher.js"
 */
import * as ort from "onnxruntime-web/webgpu";
import { failure } from "../worker/failure.js";
import { createAugmenter, createRandom } from "./augment.js";
import { withOutputs } from "./onnx_edit.js";

/**
 * @typedef {object} TeachInfo The asset "teach-info".
 * @property {string} input Of the detector.
 * @property {number} size Of its pictures.
 * @property {Record<string, string>} tensors Of the detector, by the names that a step knows them by.
 * @property {number} batch
 * @property {number} boxes Of a picture, at most.
 * @property {number} classes That can be taught, at most.
 * @property {Record<string, {steps: number, rate: number, state: StateInfo[]}>} parts
 */

/**
 * @typedef {{name: string, shape: number[], dtype: "float32"|"int32", value?: number,
 *   tensor?: string}} StateInfo A weight, or something of the optimizer's; it begins with a number
 *   everywhere, or with a tensor of the detector.
 */

// The processor always: a step takes small tensors and many kinds of nodes, and the check of WebGPU
// on a device says nothing of them. In software, WebGPU was once seen to compute an And wrongly, of
// (8, 4, 756) and (8, 4, 1); with onnxruntime-web 1.30.0 that node and whole steps are right there.
const PROVIDERS = { executionProviders: ["wasm"] };
const NEW_PICTURES = 3; // in a batch; the others were in one before
const KEPT_BYTES = 128e6; // of the maps of pictures that may come again
const WARM_UP = 20; // steps in which the rate rises
const LAST_RATE = 0.02; // of the highest one, to which it falls along a cosine

/** @param {number} step From 0. @param {number} steps */
export function rateOf(step, steps, highest) {
  const cosine = (1 + Math.cos((Math.PI * step) / steps)) / 2;
  const rise = Math.min((step + 1) / WARM_UP, 1);
  return highest * rise * (LAST_RATE + (1 - LAST_RATE) * cosine);
}

/** The detector with the maps and the weights of its head as outputs. */
function openDetector(model, info, state) {
  const weights = state.flatMap(({ tensor }) => tensor ?? []);
  const { found, ...maps } = info.tensors;
  const names = [...new Set([...Object.values(maps), ...weights])];
  return ort.InferenceSession.create(withOutputs(model, names), PROVIDERS);
}

/** The first values of everything that a step renews. */
async function firstState(detector, info, state) {
  const side = info.size;
  const grey = new ort.Tensor("float32", new Float32Array(3 * side * side), [1, 3, side, side]);
  const wanted = [...new Set(state.flatMap(({ tensor }) => tensor ?? []))];
  const values = await detector.run({ [info.input]: grey }, wanted);
  const entries = state.map(({ name, shape, dtype, value, tensor }) => {
    if (tensor !== undefined) return [name, values[tensor]];
    const kind = dtype === "int32" ? Int32Array : Float32Array;
    const length = shape.reduce((product, side) => product * side, 1);
    return [name, new ort.Tensor(dtype, new kind(length).fill(value), shape)];
  });
  return Object.fromEntries(entries);
}

/**
 * Prepare a lesson.
 * @param {object} options
 * @param {Uint8Array} options.model The detector's ONNX file.
 * @param {Uint8Array} options.step The training step's.
 * @param {TeachInfo} options.info
 * @param {string} options.part "class" or "whole".
 * @param {number} options.steps That will be taken.
 * @param {number} options.seed
 * @param {Example[]} options.examples Their pictures are not closed.
 * @param {string[]} options.labels Of the classes, in the order of the head's rows.
 */
export async function createLesson({ model, step, info, part, steps, seed, examples, labels }) {
  const { state: stateInfo, rate } = info.parts[part];
  const random = createRandom(seed);
  const { size, boxes: maxBoxes } = info;
  const draw = createAugmenter({ examples, labels, size, maxBoxes, random });
  const detector = await openDetector(model, info, stateInfo);
  const session = await ort.InferenceSession.create(step, PROVIDERS);
  let state = await firstState(detector, info, stateInfo);
  const maps = Object.entries(info.tensors).filter(([name]) => session.inputNames.includes(name));
  /** @type {{maps: Record<string, ort.Tensor>, boxes: number[][], rows: number[]}[]} */
  const pool = [];
  let drawn = 0; // pictures
  let taken = 0; // steps

  /** Draw a picture, and have the detector compute its maps. */
  async function study() {
    const { input, boxes, rows } = await draw();
    const tensor = new ort.Tensor("float32", input, [1, 3, size, size]);
    const results = await detector.run(
      { [info.input]: tensor },
      maps.map(([, name]) => name),
    );
    const own = Object.fromEntries(maps.map(([name, source]) => [name, results[source]]));
    const bytes = Object.values(own).reduce((sum, map) => sum + 4 * map.size, 0);
    const picture = { maps: own, boxes, rows };
    pool[drawn % Math.max(Math.floor(KEPT_BYTES / bytes), info.batch)] = picture;
    drawn += 1;
    return picture;
  }

  /** What a step reads, but for its state. @returns {Promise<Record<string, ort.Tensor>>} */
  async function nextBatch() {
    const pictures = [];
    const fresh = pool.length < info.batch ? info.batch : NEW_PICTURES;
    for (let k = 0; k < fresh; k++) pictures.push(await study());
    while (pictures.length < info.batch) pictures.push(pool[Math.floor(random() * pool.length)]);
    /** @type {Record<string, ort.Tensor>} */
    const feeds = {};
    for (const [name] of maps) {
      const { size: length, dims } = pictures[0].maps[name];
      const joined = new Float32Array(info.batch * length);
      pictures.forEach((picture, k) => {
        joined.set(/** @type {Float32Array} */ (picture.maps[name].data), k * length);
      });
      feeds[name] = new ort.Tensor("float32", joined, [info.batch, ...dims.slice(1)]);
    }
    const boxes = new Float32Array(info.batch * maxBoxes * 4);
    const classes = new Int32Array(info.batch * maxBoxes);
    pictures.forEach((picture, k) => {
      boxes.set(picture.boxes.flat(), k * maxBoxes * 4);
      classes.set(picture.rows, k * maxBoxes);
    });
    const counts = Int32Array.from(pictures, ({ rows }) => rows.length);
    const highest = Float32Array.of(rateOf(taken, steps, rate));
    feeds.boxes = new ort.Tensor("float32", boxes, [info.batch, maxBoxes, 4]);
    feeds.classes = new ort.Tensor("int32", classes, [info.batch, maxBoxes]);
    feeds.num_boxes = new ort.Tensor("int32", counts, [info.batch]);
    feeds.rate = new ort.Tensor("float32", highest, []);
    return feeds;
  }

  /** Take a step. @param {Record<string, ort.Tensor>} feeds @returns {Promise<number>} The loss. */
  async function learn(feeds) {
    const results = await session.run({ ...feeds, ...state });
    const loss = Number(results.loss.data[0]);
    if (!Number.isFinite(loss)) {
      throw failure("teach-failed", "the loss is not a number any more; mark the objects anew");
    }
    state = Object.fromEntries(stateInfo.map(({ name }) => [name, results[`next/${name}`]]));
    taken += 1;
    return loss;
  }

  /** The weights as they are now. */
  function weights() {
    const own = stateInfo.filter(({ name }) => /\.(weight|bias)$/.test(name));
    return own.map(({ name }) => {
      const { dims, data } = state[name];
      return { name, dims: [...dims], data: Float32Array.from(/** @type {any} */ (data)) };
    });
  }

  async function end() {
    await session.release();
    await detector.release();
  }

  return { nextBatch, learn, weights, end };
}

/** @type {Awaited<ReturnType<typeof createLesson>>|null} */
let lesson = null;

async function endLesson() {
  const ended = lesson;
  lesson = null;
  await ended?.end();
}

/** What the page may ask of the worker; see teacher.js. */
export const lessonTasks = {
  async "teach-begin"(message) {
    await endLesson();
    try {
      lesson = await createLesson(message);
    } finally {
      for (const { bitmap } of message.examples) bitmap.close();
    }
    return {};
  },
  async "teach-step"() {
    if (!lesson) throw failure("cancelled", "the lesson was ended");
    return { loss: await lesson.learn(await lesson.nextBatch()) };
  },
  async "teach-end"() {
    if (!lesson) throw failure("cancelled", "the lesson was ended");
    const weights = lesson.weights();
    await endLesson();
    return { weights };
  },
};
