/**
 * Changing the model or the back end while the page is in use, and going on after a lost GPU.
 *
 * The frame loop rests during a load and goes on afterwards; a picture gets the new model's boxes.
 * The user can end whatever takes too long: the worker that is at it ends, and another one begins.
 *
 * @import {Model} from "./model.js"
 */
import { rerun } from "./detection.js";
import { byId } from "./environment.js";
import { halt, openSource, startLoop } from "./loop.js";
import {
  alone,
  builtinModel,
  cancelWork,
  isSlow,
  loadOrKeep,
  loadOrWasm,
  model,
  ownModel,
  preferFaster,
  showNote,
} from "./model.js";
import { forgetDetections } from "./stage.js";
import { activity, attempt, demo, hideScreen, say, settleReady, showScreen } from "./status.js";
import { sentence } from "./text.js";

/** @type {Promise<unknown>} */
let loads = Promise.resolve(); // those asked for so far
let waiting = 0; // loads that have not begun
/** @type {{wanted: Model, end: AbortController, ending: AbortSignal, isLast: () => boolean}|null} */
let present = null; // the load that goes on
let losses = 0; // of the GPU device since the user last chose a back end

const DETECTION_PATIENCE_MS = 1500; // a load waits so long for the detector

/** Load after those asked for before. @param {() => Promise<void>} load */
function inTurn(load) {
  const result = loads.then(load);
  loads = result.catch(() => {});
  return result;
}

/**
 * Load a model, and show the picture's detections by it.
 * @param {Model} wanted
 * @param {string} [backend]
 */
export function loadModel(wanted, backend = byId("backend").value) {
  // Nobody wants the one before any more; the first one stays, in case that this one fails.
  if (present && model.current) cancelLoading();
  waiting += 1;
  return inTurn(() => {
    waiting -= 1;
    return loadNow(wanted, backend);
  });
}

function cancelLoading() {
  if (!present) return;
  say(`Stopped loading ${present.wanted.name}.`);
  present.end.abort();
  cancelWork();
}

/** Whether there is something that the user may end: a load, or a detection that takes long. */
export const hasWork = () => isSlow() || (present !== null && !activity.booting);

/** End it. @returns {boolean} Whether there was something. */
export function endWork() {
  if (!hasWork()) return false;
  if (present) {
    cancelLoading();
    return true;
  }
  cancelWork();
  forgetDetections();
  settleReady();
  showScreen("stopped");
  return true;
}

/** @param {Model} wanted */
async function loadNow(wanted, backend) {
  const wasRunning = activity.running;
  const end = new AbortController();
  const job = { wanted, end, ending: end.signal, isLast: () => waiting === 0 };
  present = job;
  const timer = setTimeout(cancelWork, DETECTION_PATIENCE_MS);
  halt();
  demo.ready = false;
  byId("loading").hidden = false;
  hideScreen();
  say(`Loading ${wanted.name}…`);
  try {
    await alone(() => {
      clearTimeout(timer);
      return loadOrKeep(wanted, backend, job);
    });
    present = null;
    byId("loading").hidden = true;
    await afterLoad(wasRunning);
    attempt(preferFaster);
  } catch (error) {
    if (!job.ending.aborted) throw error;
    if (!demo.info && job.isLast()) showScreen("stopped");
    else say(`Stopped loading ${wanted.name}.`);
  } finally {
    present = null;
    byId("loading").hidden = true;
    settleReady();
  }
}

/** Go on with the camera or video, or with the picture. @param {boolean} wasRunning */
export async function afterLoad(wasRunning) {
  if (!wasRunning || !openSource()) {
    await rerun();
    return;
  }
  settleReady();
  await startLoop();
}

const presentModel = () => present?.wanted ?? model.current ?? builtinModel();

export const loadBuiltin = () => loadModel(builtinModel());

/** @param {File|Uint8Array} file @param {string} [name] Instead of the file's own. */
export const loadFile = (file, name) => loadModel(ownModel(file, name));

/** Load the present model again, on the back end that the user chose. */
export async function chooseBackend(backend) {
  losses = 0;
  byId("backend").value = backend;
  await loadModel(presentModel(), backend);
}

/**
 * The GPU is gone: load again with WebGPU the first time, where it is checked again; after that, and
 * if it has begun to compute wrongly, with WebAssembly.
 * @param {string} reason @param {boolean} isWrong
 */
function recover(reason, isWrong) {
  const wasRunning = activity.running;
  halt();
  demo.ready = false;
  losses += 1;
  const given = losses === 1 && !isWrong;
  const backend = given ? (demo.info?.requested ?? "auto") : "wasm";
  const what = isWrong ? "WebGPU computes wrongly" : "the GPU was lost";
  showScreen("device-lost", { detail: sentence(`${what}: ${reason}`) });
  attempt(() => inTurn(() => reloadAfterLoss(backend, `${what} (${reason})`, wasRunning)));
}

/** @param {string} what Has happened. */
async function reloadAfterLoss(backend, what, wasRunning) {
  await alone(() => loadOrWasm(presentModel(), backend));
  hideScreen();
  const now = demo.info?.backend === "webgpu" ? "WebGPU again" : "WebAssembly";
  const text = `${what}; the model now runs on ${now}`;
  showNote([text, demo.info?.note ?? ""].filter(Boolean).map(sentence).join(" "));
  await afterLoad(wasRunning);
  settleReady();
  say(sentence(text));
  attempt(preferFaster);
}

model.onLost = recover;
