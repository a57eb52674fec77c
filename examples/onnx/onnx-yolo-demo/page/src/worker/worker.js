/**
 * The worker: it owns onnxruntime-web, and turns pictures into detections.
 *
 * Messages to it, each with an `id`:
 *   {type: "start", module, wasm, threads, backend}, the first; `module` is a script of the
 *     runtime, and both are packed
 *   {type: "load", model, facts, backend, graph, tried, sample, reference}; see detector.js
 *   {type: "detect", bitmap, options}
 *   {type: "fingerprint", bitmap}: the CRC-32 of the pixels that are read
 *   {type: "measure", frames}
 *   {type: "teach-begin", program, …}, {type: "teach-step"}, {type: "teach-end"}; see teaching.js,
 *     which is in `program`
 * Messages from it:
 *   {type: "progress", stage}, {type: "checked", checked}, see check.js,
 *   {type: "lost", reason, isWrong}: the graphics device is gone, or computes wrongly
 *   {type: "result", id, value}, {type: "error", id, code, message}
 *
 * @import {Reference} from "./check.js"
 * @import {Geometry} from "./letterbox.js"
 * @import {Facts} from "./onnx_read.js"
 */
import * as ort from "onnxruntime-web/webgpu";
import { LIMITS } from "./agreement.js";
import { DeviceCheck } from "./check.js";
import { crc32 } from "./crc32.js";
import { failure } from "./failure.js";
import { asFloats, toHalf } from "./half.js";
import { lessonTasks } from "./lessons.js";
import { createLetterbox, FILL, fit } from "./letterbox.js";
import { createPostprocess } from "./nms.js";
import { thresholdsFor } from "./onnx_read.js";
import { readShape, requireScores } from "./outputs.js";
import { chooseReading, readPixels } from "./pixels.js";
import { refusal } from "./refusal.js";
import { unpack } from "./unpack.js";

const MAX_SIDE = 2048; // of a network's input; beyond, a browser's memory does not last
const EXPORT_HINT = "export a YOLO detector with a fixed square input";

/** @type {unknown} */
let watched = null; // the GPU device whose loss is reported
/** @type {Awaited<ReturnType<typeof prepare>>|null} */
let loaded = null;

// The runtime also throws numbers and strings.
const messageOf = (error) => String(error?.message ?? error);

function progress(stage) {
  postMessage({ type: "progress", stage });
}

// ------------------------------------------------------------------------ runtime

// An ONNX file of one Identity.
const SMALLEST_MODEL = Uint8Array.from(
  atob("CAg6NwoQCgF4EgF5IghJZGVudGl0eRIBZ1oPCgF4EgoKCAgBEgQKAggBYg8KAXkSCgoICAESBAoCCAFCBAoAEA0="),
  (letter) => letter.charCodeAt(0),
);

async function unpackRuntime(module, wasm) {
  try {
    const script = new Blob([await unpack(module)], { type: "text/javascript" });
    return { script, binary: await unpack(wasm) };
  } catch (error) {
    throw failure("assets-missing", `the page's runtime is damaged (${messageOf(error)})`);
  }
}

/** Unpack the runtime, and start it. */
async function start({ module, wasm, threads, backend }) {
  const { script, binary } = await unpackRuntime(module, wasm);
  progress("runtime");
  ort.env.logLevel = "error";
  ort.env.wasm.numThreads = threads;
  // A page opened from disk and its worker may not read each other's blob: addresses, so the
  // worker makes its own.
  ort.env.wasm.wasmPaths = { mjs: URL.createObjectURL(script) };
  ort.env.wasm.wasmBinary = binary;
  // A session starts it.
  const session = await createSession(SMALLEST_MODEL, backend);
  await session.release();
  // The compiled runtime stays; its file is not needed any more.
  ort.env.wasm.wasmBinary = undefined;
  return { ...(await chooseReading()), runtime: ort.env.versions.web ?? "" };
}

async function watchDevice() {
  const device = /** @type {any} */ (await ort.env.webgpu.device);
  if (device === watched) return;
  watched = device;
  device.lost.then(({ reason, message }) => {
    const words = [reason, message].filter((word) => word && word !== "unknown");
    postMessage({ type: "lost", reason: words.join(": ") || "the browser gave no reason" });
  });
}

// ------------------------------------------------------------------------ model

function describe({ name, type, shape }) {
  return `${name} ${type} (${shape?.join(", ")})`;
}

/**
 * The name, the type and the side of a model's picture input.
 * @param {ort.InferenceSession} session
 * @param {Facts} facts
 */
function findInput(session, facts) {
  const inputs = /** @type {any[]} */ ([...session.inputMetadata]);
  const [input] = inputs;
  // Open axes have names instead of lengths.
  const fits = (axis, length) => typeof axis !== "number" || axis === length;
  const [batch, channels, height, width] = input?.shape ?? [];
  const side = typeof height === "number" ? height : facts.size;
  const right =
    inputs.length === 1 &&
    ["float32", "float16"].includes(input.type) &&
    input.shape.length === 4 &&
    fits(batch, 1) &&
    fits(channels, 3) &&
    fits(width, side);
  if (right && side && side > MAX_SIDE) {
    throw failure(
      "model-refused",
      `it looks at pictures of ${side}x${side} pixels, and the page takes up to ${MAX_SIDE}; ` +
        "export it for smaller ones, such as 640",
    );
  }
  if (right && side) return { name: input.name, type: input.type, side };
  throw failure(
    "model-shape",
    `the model's input is ${inputs.map(describe).join("; ") || "missing"}; ` +
      `needed: one, float32 or float16 (1, 3, S, S); ${EXPORT_HINT}`,
  );
}

/**
 * @param {ort.InferenceSession} session
 * @param {string|null} [logits] Of the outputs the one that is there for the check alone.
 * @returns {string} The name of the detections.
 */
function findOutput(session, logits) {
  const outputNames = session.outputNames.filter((name) => name !== logits);
  if (outputNames.includes("output0") || outputNames.length === 1) {
    return outputNames.includes("output0") ? "output0" : outputNames[0];
  }
  throw failure(
    "model-shape",
    `the model's outputs are ${outputNames.join(", ")}; needed: one output, or one with the ` +
      `name output0; ${EXPORT_HINT}`,
  );
}

/** @param {Uint8Array} [graph] As it was optimized before; it has its weights from the model. */
async function createSession(model, backend, graph) {
  try {
    return await ort.InferenceSession.create(graph ?? model, {
      executionProviders: [backend],
      graphOptimizationLevel: graph ? "disabled" : "all",
      externalData: graph ? [{ path: "model", data: model }] : [],
    });
  } catch (error) {
    const message = messageOf(error);
    // The same call starts the runtime, and then reads the model.
    const isRuntime = /no available backend|initWasm/i.test(message);
    throw isRuntime
      ? failure("runtime", `the runtime does not start: ${message}`)
      : refusal(message);
  }
}

/** One inference of what is in the tensor. */
async function infer({ session, inputName, outputName, tensor }) {
  const results = await session.run({ [inputName]: tensor }, [outputName]);
  const output = results[outputName];
  const data = asFloats(output.type, await output.getData());
  return { dims: output.dims, data, release: () => output.dispose() };
}

/** Numbers of a mask that a segmentation model gives behind the scores of a box, or 0. */
function countMasks({ outputMetadata }) {
  // They weigh the maps of the model's second output, (1, numbers, height, width).
  const maps = [...outputMetadata].find(({ shape }) => shape?.length === 4);
  return typeof maps?.shape[1] === "number" ? maps.shape[1] : 0;
}

/** Run once, which prepares what later runs use, and look at the result: its shape and layout. */
async function tryOnce(network, facts, side, masks) {
  progress("warm-up");
  const first = await infer(network);
  const shape = readShape(first.dims, facts.names, side, masks);
  if (!facts.names && !masks) requireScores(first.data, shape);
  const { names, boxes, layout, width } = shape;
  const { run } = createPostprocess(names.length, boxes, layout, width);
  run(first.data, fit(side, side, side), { confidence: names.map(() => 0.5), iou: 0.5 });
  first.release();
  return shape;
}

/** The shape of an output as the model tells it. @returns {number[]|null} Null if it is open. */
function knownShape({ outputMetadata }, name) {
  const { shape } = [...outputMetadata].find((output) => output.name === name);
  return shape.every((axis) => typeof axis === "number") ? shape : null;
}

async function prepareSession(session, { facts, backend, tried, reference }) {
  const { name, type, side } = findInput(session, facts);
  const isHalf = type === "float16";
  const written = isHalf ? toHalf : undefined;
  const input = new (isHalf ? Uint16Array : Float32Array)(3 * side * side);
  input.fill(isHalf ? toHalf(FILL / 255) : FILL / 255);
  const tensor = new ort.Tensor(type, input, [1, 3, side, side]);
  const outputName = findOutput(session, reference?.logits);
  const network = { session, inputName: name, outputName, tensor };
  const dims = tried && backend === "wasm" ? knownShape(session, network.outputName) : null;
  const masks = countMasks(session);
  const shape = dims
    ? readShape(dims, facts.names, side, masks)
    : await tryOnce(network, facts, side, masks);
  const { layout, boxes, names, width } = shape;
  const postprocess = createPostprocess(names.length, boxes, layout, width);
  if (backend === "webgpu") await watchDevice();
  const letterbox = createLetterbox(side, written);
  const cold = dims !== null;
  return { ...network, names, layout, width, side, input, letterbox, postprocess, cold };
}

/** Put a picture's pixels into a network's input. @returns {Promise<Geometry>} */
async function fillInput(network, bitmap) {
  const pixels = await readPixels(bitmap);
  return network.letterbox.run(pixels, bitmap.width, bitmap.height, network.input);
}

/** What a network computes of its input: the output, and the logits if their name is known. */
async function allOutputs({ session, inputName, outputName, tensor }, logits) {
  const names = logits ? [outputName, logits] : [outputName];
  const results = await session.run({ [inputName]: tensor }, names);
  const arrays = [];
  for (const name of names) {
    const output = results[name];
    arrays.push(asFloats(output.type, await output.getData()).slice());
    output.dispose();
  }
  return arrays;
}

/** The same by WebAssembly with the same file. */
async function outputsOfWasm(network, model, logits) {
  const session = await createSession(new Uint8Array(model), "wasm");
  try {
    return await allOutputs({ ...network, session }, logits);
  } finally {
    await session.release();
  }
}

/**
 * Begin to check what WebGPU computes, by a sample; Python's outputs are taken where there are any and
 * the browser has decoded the sample to the same pixels.
 * @param {Awaited<ReturnType<typeof prepareSession>>} network On WebGPU.
 * @param {{model: ArrayBuffer, sample: Blob, reference?: Reference}} message
 * @returns The network with its check.
 * @throws {Error} If WebGPU computes wrongly.
 */
async function beginCheck(network, { model, sample, reference }) {
  progress("compare");
  const bitmap = await createImageBitmap(sample);
  await fillInput(network, bitmap);
  bitmap.close();
  const input = network.input.slice();
  const isSame = reference?.input === crc32(new Uint8Array(input.buffer));
  const known = isSame ? reference?.outputs : undefined;
  const check = new DeviceCheck({
    input,
    wanted: known ?? (await outputsOfWasm(network, model, reference?.logits)),
    by: known ? "Python" : "WebAssembly",
    limits: reference?.limits ?? LIMITS,
    layout: network.layout,
    width: network.width,
  });
  const checking = { ...network, check, logits: reference?.logits };
  check.judge(await outputsOfCheck(checking));
  return checking;
}

/** What WebGPU computes of the sample. */
function outputsOfCheck(network) {
  network.input.set(network.check.input);
  return allOutputs(network, network.logits);
}

async function prepare(message) {
  const { backend, graph } = message;
  /** @type {ort.InferenceSession|null} */
  let session = null;
  progress("model");
  try {
    session = await createSession(new Uint8Array(message.model), backend, graph);
    const network = await prepareSession(session, message);
    return backend === "webgpu" ? await beginCheck(network, message) : { ...network, check: null };
  } catch (error) {
    await session?.release();
    const { code } = /** @type {{code?: string}} */ (error);
    if (backend === "webgpu" && code !== "model-shape") {
      throw failure("webgpu-failed", messageOf(error));
    }
    throw typeof code === "string" ? error : refusal(messageOf(error));
  }
}

/** Load a model; the present one stays in use if that fails. */
async function load(message) {
  const network = await prepare(message);
  await loaded?.session.release();
  loaded = network;
  const { names, layout, side, check } = network;
  const { facts } = message;
  const thresholds = thresholdsFor(names, facts);
  const checked = check?.checked ?? null;
  return { names, layout, size: [side, side], thresholds, iou: facts.iou, checked };
}

// ------------------------------------------------------------------------ detection

async function checkAgain(network) {
  const { check } = network;
  if (!check?.isDue()) return;
  const found = await outputsOfCheck(network);
  try {
    check.judge(found);
  } catch (error) {
    postMessage({ type: "lost", reason: messageOf(error), isWrong: true });
    throw error;
  }
  postMessage({ type: "checked", checked: check.checked });
}

async function detect({ bitmap, options }) {
  if (loaded === null) throw failure("runtime", "no model is loaded");
  await checkAgain(loaded);
  const begun = performance.now();
  const geometry = await fillInput(loaded, bitmap);
  const prepared = performance.now();
  const output = await infer(loaded);
  const inferred = performance.now();
  const detections = loaded.postprocess.run(output.data, geometry, options);
  output.release();
  const times = {
    pre: prepared - begun,
    inference: inferred - prepared,
    post: performance.now() - inferred,
  };
  const { cold } = loaded;
  loaded.cold = false;
  return { detections, bitmap, times, cold };
}

/** @returns {Promise<number>} Milliseconds of an inference, the median of some. */
async function measure({ frames }) {
  if (loaded === null) throw failure("runtime", "no model is loaded");
  const times = [];
  while (times.length < frames) {
    const begun = performance.now();
    (await infer(loaded)).release();
    times.push(performance.now() - begun);
  }
  return times.sort((one, other) => one - other)[frames >> 1];
}

async function fingerprint({ bitmap }) {
  const pixels = await readPixels(bitmap);
  bitmap.close();
  return { pixels: crc32(new Uint8Array(pixels.buffer)) };
}

const TASKS = { start, load, detect, measure, fingerprint, ...lessonTasks };

self.onmessage = async ({ data }) => {
  try {
    const value = await TASKS[data.type](data);
    const transfer = value.bitmap ? [value.bitmap] : [];
    postMessage({ type: "result", id: data.id, value }, { transfer });
  } catch (error) {
    data.bitmap?.close();
    // The browser's own errors have a number there.
    const { code } = /** @type {{code?: unknown}} */ (error ?? {});
    const known = typeof code === "string" ? code : "runtime";
    postMessage({ type: "error", id: data.id, code: known, message: messageOf(error) });
  }
};
