/**
 * Changing the model or the back end while the page is in use, and going on after a lost GPU.
 *
 * The frame loop rests during a load and goes on afterwards; a picture gets the new model's boxes.
 *
 * @import {Model} from "./model.js"
 */
import { rerun } from "./detection.js";
import { byId } from "./environment.js";
import { halt, openSource, startLoop } from "./loop.js";
import { alone, builtinModel, loadOrKeep, loadOrWasm, model, ownModel, showNote } from "./model.js";
import { activity, attempt, demo, hideScreen, say, settleReady, showScreen } from "./status.js";
import { sentence } from "./text.js";

/** @type {Promise<unknown>} */
let loads = Promise.resolve(); // those asked for so far
let losses = 0; // of the GPU device since the user last chose a back end

/** Load after those asked for before. @param {() => Promise<void>} load */
function inTurn(load) {
  const result = loads.then(load);
  loads = result.catch(() => {});
  return result;
}

/** Load a model, and show the picture's detections by it. */
function loadModel(wanted, backend = byId("backend").value) {
  return inTurn(() => loadNow(wanted, backend));
}

/** @param {Model} wanted */
async function loadNow(wanted, backend) {
  const wasRunning = activity.running;
  halt();
  demo.ready = false;
  byId("loading").hidden = false;
  hideScreen();
  say(`Loading ${wanted.name}…`);
  try {
    await alone(() => loadOrKeep(wanted, backend));
    byId("loading").hidden = true;
    await afterLoad(wasRunning);
  } finally {
    byId("loading").hidden = true;
    settleReady();
  }
}

async function afterLoad(wasRunning) {
  if (!wasRunning || !openSource()) {
    await rerun();
    return;
  }
  settleReady();
  await startLoop();
}

const present = () => model.current ?? builtinModel();

export const loadBuiltin = () => loadModel(builtinModel());

/** @param {File|Uint8Array} file @param {string} [name] Instead of the file's own. */
export const loadFile = (file, name) => loadModel(ownModel(file, name));

/** Load the present model again, on the back end that the user chose. */
export async function chooseBackend(backend) {
  losses = 0;
  byId("backend").value = backend;
  await loadModel(present(), backend);
}

/** The GPU is gone: load again with WebGPU the first time, with WebAssembly after that. */
function recover(reason) {
  const wasRunning = activity.running;
  halt();
  demo.ready = false;
  losses += 1;
  const backend = losses === 1 ? (demo.info?.requested ?? "auto") : "wasm";
  showScreen("device-lost", { detail: `The browser's reason: ${reason}` });
  attempt(() => inTurn(() => reloadAfterLoss(backend, reason, wasRunning)));
}

async function reloadAfterLoss(backend, reason, wasRunning) {
  await alone(() => loadOrWasm(present(), backend));
  hideScreen();
  const now = demo.info?.backend === "webgpu" ? "WebGPU again" : "WebAssembly";
  const text = `the GPU was lost (${reason}); the model now runs on ${now}`;
  showNote([text, demo.info?.note ?? ""].filter(Boolean).map(sentence).join(" "));
  await afterLoad(wasRunning);
  settleReady();
  say(sentence(text));
}

model.onLost = recover;
