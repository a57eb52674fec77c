/**
 * The model that is loaded, and the detector that runs it, which takes one thing at a time.
 *
 * What happens to the camera and the picture around a load is not its concern: see loading.js.
 *
 * @import {Info as Loaded} from "./detector.js"
 * @import {Facts} from "../worker/onnx_read.js"
 */

import { failure } from "../worker/failure.js";
import { readFacts } from "../worker/onnx_read.js";
import { withSize } from "../worker/onnx_write.js";
import { assetBytes, assetJson, hasAsset, whenAsset } from "./assets.js";
import { findAdapter, loadFloats, loadWebgpuRuntime } from "./backend.js";
import { showCard } from "./card.js";
import { checkedWith, showChecked } from "./checking.js";
import { Detector } from "./detector.js";
import { byId, isIos, threadCount } from "./environment.js";
import { setClasses, setThresholds } from "./settings.js";
import { clearTimes } from "./stage.js";
import { activity, demo, say, settle } from "./status.js";
import { sentence, setText } from "./text.js";

const SLOW = "This takes long. Stop ends it.";
const OTHER_BACKENDS = 'choose the backend "wasm" or "auto"';
const PROGRESS = {
  decoding: [0.1, "Unpacking the runtime…"],
  runtime: [0.35, "Starting the runtime…"],
  model: [0.55, "Loading the model…"],
  "warm-up": [0.8, "First run of the model…"],
  compare: [0.9, "Checking WebGPU on this device…"],
};

const IOS_NOTE =
  "on iPhones and iPads the page stays on WebAssembly: there, pages that use WebGPU end after some " +
  "hundred frames; choose WebGPU to try it";

/**
 * @typedef {object} Model
 * @property {string} name
 * @property {boolean} builtin
 * @property {boolean} [far] Whether it looks for far things; see `builtinModel`.
 * @property {(backend: string) => Promise<{bytes: Uint8Array, facts: Facts, noted?: object,
 *   graph?: Uint8Array, tried?: boolean, asset?: string}>} read `noted` is what a file of detections says of it;
 *   `graph` see `Detector.load`; `tried`: the build has run it; `asset`: its name in the page.
 */

/**
 * @typedef {object} Way How a model runs.
 * @property {string} backend What really runs: "webgpu" or "wasm".
 * @property {string} adapter Of WebGPU.
 * @property {string} note Why this one, or "".
 */

/** @typedef {Loaded & Way & {requested: string, modelName: string}} Info */

export const model = {
  /** @type {Model|null} The one in use. */
  current: null,
  /** @type {object} What is noted of it. */
  noted: {},
  /** The back end that was asked for with it. */
  requested: "auto",
  /** Called when the GPU is gone, or has begun to compute wrongly, with the reason. */
  onLost: (/** @type {string} */ _reason, /** @type {boolean} */ _isWrong) => {},
};

let detector = new Detector({
  onProgress: showProgress,
  onLost: lost,
  onChecked: keepChecked,
  onChangedPixels: () => {
    byId("pixels-note").hidden = false;
  },
  onSlow: () => {
    if (detector.slow && !activity.running) say(SLOW);
    else if (!detector.slow && byId("status").textContent === SLOW) say("");
    settle();
  },
});

/** Start the worker at once, and its runtime before the model has been read. */
export function prepareRuntime() {
  detector.open();
  // What goes wrong is said by the load that follows.
  whenAsset("runtime-wasm", () => detector.prepare("wasm").catch(() => {}));
}

function lost(reason, isWrong) {
  model.onLost(reason, isWrong);
}

/** @param {import("../worker/check.js").Checked} checked */
function keepChecked(checked) {
  if (!demo.info) return;
  demo.info.checked = checked;
  showChecked(checked);
}

// ------------------------------------------------------------------------ kinds of model

/** Whether the page has the built-in model for far things, too. */
export const hasFar = () => hasAsset("model-far");

/**
 * @param {boolean} [far] Whether to look for far things, at a larger size; by default as chosen.
 * @returns {Model} The one that the page was built with.
 */
export function builtinModel(far = byId("range").value === "far") {
  const read = async (backend) => {
    const own = await assetJson("model-info");
    // WebGPU lacks operators in 8-bit integers; its form of such a model has floats.
    const asFloats = backend === "webgpu" && own.weights === "int8";
    if (asFloats) await loadFloats(own);
    const name = asFloats ? "model-webgpu" : "model";
    const { facts, ...noted } = asFloats ? await assetJson(`${name}-info`) : own;
    const graph = backend === "wasm" ? await assetBytes("model-graph") : undefined;
    const near = { bytes: await assetBytes(name), facts, noted, graph, tried: true, asset: name };
    if (!far) return near;
    const patch = await assetBytes("model-far");
    const asset = undefined; // Python has run the other size
    // The graph, where there is one, has its weights from places in the model's file.
    if (graph) return { ...near, graph: withSize(graph, patch), asset };
    return { ...near, bytes: withSize(near.bytes, patch), asset };
  };
  return { name: "built-in model", builtin: true, far, read };
}

const MAX_MODEL_BYTES = 1e9; // loading takes several times as much, of the four that a page may have

/** @param {File} file @returns {Promise<Uint8Array>} */
async function readModel(file) {
  if (file.size > MAX_MODEL_BYTES) {
    const size = (file.size / 1e9).toFixed(1);
    throw failure(
      "model-refused",
      `it has ${size} GB, and the page takes up to 1 GB; take a smaller network, or one with int8 or float16 weights`,
    );
  }
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw failure("model-refused", `the browser cannot read it: ${reason}`, error);
  }
}

/** @param {File|Uint8Array} file @param {string} [name] Instead of the file's own. @returns {Model} */
export function ownModel(file, name) {
  const read = async () => {
    const bytes = file instanceof Uint8Array ? file : await readModel(file);
    return { bytes, facts: readFacts(bytes) };
  };
  return { name: name ?? ("name" in file ? file.name : "model.onnx"), builtin: false, read };
}

// ------------------------------------------------------------------------ one at a time

/** @type {Promise<unknown>} */
let queue = Promise.resolve();

/**
 * Do something with the detector when all that was asked for before is done.
 * @template T
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
export function alone(task) {
  const result = queue.then(task);
  queue = result.catch(() => {});
  return result;
}

/** Whether the detector has been at something for long. */
export const isSlow = () => detector.slow;

/** End what the detector is at, if anything, which fails with the code "cancelled". */
export function cancelWork() {
  if (!detector.busy) return;
  demo.info = null;
  detector.cancel();
}

/** See `Detector.detect`. */
export const detect = (bitmap, settings) => detector.detect(bitmap, settings);

/** @returns {Promise<number>} Milliseconds of an inference; nobody waits for it. */
export const measureInference = () => detector.measure(1, Number.POSITIVE_INFINITY);

/** See `Detector.teach`. */
export const teach = (message) => detector.teach(message);

// ------------------------------------------------------------------------ loading

/**
 * Load a model; if that fails, go on with the one before.
 * @param {Model} wanted
 * @param {string} backend
 * @param {{ending: AbortSignal, isLast: () => boolean}} job `ending` is aborted when the user ends it;
 *   whether no other model is to be loaded after it.
 */
export async function loadOrKeep(wanted, backend, job) {
  const { current, requested } = model;
  try {
    await loadInto(wanted, backend, job.ending);
  } catch (error) {
    byId("backend").value = current ? requested : backend;
    if (current) showRange(current);
    const failed = /** @type {Error & {code?: string}} */ (error);
    if (failed.code?.startsWith("model-")) {
      failed.message = `File ${wanted.name}: ${failed.message}`;
    }
    if (!detector.loaded) {
      demo.info = null;
      // What is shown is the first error; without a model the page says so.
      if (current && job.isLast()) await loadInto(current, requested).catch(() => {});
      if (demo.info && failed.code === "no-webgpu") noteWay(failed.message);
    }
    throw error;
  }
}

/** Load a model; if WebGPU fails, with WebAssembly. @param {Model} wanted */
export async function loadOrWasm(wanted, backend) {
  try {
    await loadInto(wanted, backend);
  } catch (error) {
    if (backend === "wasm") throw error;
    await loadInto(wanted, "wasm");
  }
}

/**
 * How to load a model first. "auto" is WebAssembly, which starts much faster; `preferFaster` then
 * looks at WebGPU.
 * @param {string} requested "auto", "webgpu" or "wasm".
 * @returns {Promise<Way>}
 */
async function firstWay(requested) {
  if (requested !== "webgpu") return { backend: "wasm", adapter: "", note: "" };
  const { adapter, note } = await findAdapter();
  if (!adapter) throw failure("no-webgpu", `${note}; ${OTHER_BACKENDS}`);
  await loadWebgpuRuntime();
  return { backend: "webgpu", adapter, note };
}

/** The way, and what a model's `read` gives. @param {Model} wanted */
async function read(wanted, requested) {
  const way = await firstWay(requested);
  return { way, given: await forDetector(wanted, way.backend) };
}

/** What `Detector.load` needs, and what is noted of the model. @param {Model} wanted */
export async function forDetector(wanted, backend) {
  const { bytes, ...others } = await wanted.read(backend);
  if (backend !== "webgpu") return { model: bytes, backend, ...others };
  const { more = new Uint8Array(), ...checked } = await checkedWith(others.asset);
  const longer = new Uint8Array(bytes.length + more.length);
  longer.set(bytes);
  longer.set(more, bytes.length);
  return { model: longer, backend, ...others, ...checked };
}

/**
 * What is promised, unless it is ended before, or was.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [ending]
 * @returns {Promise<T>}
 */
function unlessEnded(promise, ending) {
  return new Promise((resolve, reject) => {
    const end = () => reject(failure("cancelled", "it was stopped"));
    if (ending?.aborted) end();
    ending?.addEventListener("abort", end);
    promise.then(resolve, reject);
  });
}

/** @param {Model} wanted @param {string} requested @param {AbortSignal} [ending] */
async function loadInto(wanted, requested, ending) {
  const opened = await unlessEnded(read(wanted, requested), ending);
  const { way, given } = opened;
  const found = await detector.load(given).catch((error) => {
    if (!["webgpu-failed", "device-lost"].includes(error.code)) throw error;
    throw failure("no-webgpu", `WebGPU failed: ${error.message}; ${OTHER_BACKENDS}`);
  });
  use(wanted, requested, { ...found, ...way }, given.noted);
  showCard(given.facts);
}

/** Make a loaded model the present one. @param {Model} wanted */
function use(wanted, requested, found, noted = {}) {
  const info = { ...found, requested, modelName: wanted.name };
  const sameClasses = demo.info && String(demo.info.names) === String(info.names);
  const sameModel = model.current === wanted || (model.current?.builtin && wanted.builtin);
  Object.assign(model, { current: wanted, noted, requested });
  demo.info = info;
  byId("backend").value = requested;
  showRange(wanted);
  if (!sameModel) setThresholds(info);
  if (!sameClasses) setClasses(info.names);
  clearTimes();
  showInfo(info);
}

// ------------------------------------------------------------------------ the faster back end

const MEASURED_FRAMES = 5;

/**
 * Measure a few frames on WebGPU, too, where this device has it, and go on with it if it is faster.
 *
 * Meanwhile the model detects on WebAssembly. Small networks are often faster there.
 */
export async function preferFaster() {
  const { current, requested } = model;
  const { info } = demo;
  if (!current || !info || requested !== "auto" || info.backend !== "wasm") return;
  const stale = () => demo.info !== info;
  const rival = new Detector({
    onProgress: () => {},
    // Before it is in use, its failure to load says so.
    onLost: (reason, isWrong) => rival === detector && lost(reason, isWrong),
    onChecked: keepChecked,
    onSlow: settle,
  });
  try {
    if (isIos()) throw failure("no-webgpu", IOS_NOTE);
    const { adapter, software, note } = await findAdapter();
    if (!adapter || software) throw failure("no-webgpu", note);
    await loadWebgpuRuntime();
    const { noted, ...given } = await forDetector(current, "webgpu");
    if (stale()) return;
    const found = await rival.load(given);
    await alone(async () => {
      if (stale()) return;
      const ours = await detector.measure(MEASURED_FRAMES);
      const theirs = await rival.measure(MEASURED_FRAMES);
      const measured =
        "measured on this device, milliseconds an inference: " +
        `WebGPU ${theirs.toFixed(1)}, WebAssembly ${ours.toFixed(1)}`;
      if (stale()) return;
      if (theirs >= ours) {
        noteWay(measured);
        showChecked(found.checked);
        return;
      }
      detector.cancel();
      detector = rival;
      use(current, "auto", { ...found, backend: "webgpu", adapter, note: measured }, noted);
    });
  } catch (error) {
    const { message, code } = /** @type {Error & {code: string}} */ (error);
    const failed = `the page stays on WebAssembly, for WebGPU failed: ${message}`;
    if (!stale()) noteWay(code === "no-webgpu" ? message : failed);
  } finally {
    if (rival !== detector) rival.cancel();
  }
}

/** Say of the model in use why it runs as it does. */
function noteWay(note) {
  Object.assign(/** @type {Info} */ (demo.info), { note });
  showNote(note);
}

// ------------------------------------------------------------------------ what the page says

function showProgress(stage) {
  const [share, text] = PROGRESS[stage];
  byId("progress", "progress").value = share;
  setText(byId("progress-text"), text);
}

/** @param {Info} info */
function showInfo({ modelName, names, layout, size, backend, adapter, threads, note, checked }) {
  const [height, width] = size;
  const classes = `${names.length} ${names.length === 1 ? "class" : "classes"}`;
  const file = "file" in model.noted ? `, ${model.noted.file}` : "";
  setText(byId("model-name"), modelName);
  const ends = layout === "finished" ? ", suppresses overlaps itself" : "";
  setText(byId("model-facts"), `${width} × ${height} pixels, ${classes}${ends}${file}`);
  const fewer = threads < threadCount() ? "; several did not start" : "";
  const wasm = `WebAssembly, ${threads} ${threads === 1 ? "thread" : "threads"}${fewer}`;
  const webgpu = adapter ? `WebGPU, ${adapter}` : "WebGPU";
  setText(byId("backend-shown"), backend === "webgpu" ? webgpu : wasm);
  showNote(note);
  showChecked(checked);
}

/** Offer far things, where the page has a model for them. @param {Model} model */
function showRange({ builtin, far }) {
  byId("range-field").hidden = !(builtin && hasFar());
  byId("range").value = far ? "far" : "near";
}

/** @param {string} note On the back end; "" for none. */
export function showNote(note) {
  byId("backend-note").hidden = !note;
  setText(byId("backend-note"), note ? sentence(note) : "");
}

/** @returns {object} What a file of detections says of the model. */
export function modelFacts() {
  const { modelName, size, names, backend, adapter, threads } = /** @type {Info} */ (demo.info);
  return { name: modelName, size, names, backend, adapter, threads, ...model.noted };
}
