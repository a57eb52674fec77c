/**
 * The card "Self-test": what this device computes of the samples, compared with what Python computed at the
 * build, as a text to copy into a report. It holds no picture.
 *
 * @import {Difference} from "../worker/agreement.js"
 */

import { isClose, outputDifference } from "../worker/agreement.js";
import { crc32 } from "../worker/crc32.js";
import { assetBytes, assetJson } from "./assets.js";
import { findAdapter, loadWebgpuRuntime } from "./backend.js";
import { Detector } from "./detector.js";
import { byId, givenAddress } from "./environment.js";
import { builtinModel, forDetector } from "./model.js";
import { activity, attempt, say } from "./status.js";
import { setText } from "./text.js";

const MEASURED_FRAMES = 5;
const RIGHT = "the boxes are Python's";
const NEAR = "the boxes are near Python's, as 8-bit integers are";
const WRONG = "the boxes are not Python's";
// In 8-bit integers, a number that is rounded the other way moves a box. In 83 of 91 drawn scenes,
// onnxruntime's own optimization levels differed by less.
const LIMITS_OF_INTEGERS = { box: 16, score: 0.1 };

/** What a browser tells of the device, without asking. */
async function deviceFacts() {
  const { platform, hardwareConcurrency, maxTouchPoints } = navigator;
  const { deviceMemory, userAgentData } = /** @type {any} */ (navigator);
  const wanted = ["model", "platformVersion", "architecture", "bitness"];
  const told = await userAgentData?.getHighEntropyValues?.(wanted).catch(() => undefined);
  return { platform, cores: hardwareConcurrency, deviceMemory, maxTouchPoints, ...told };
}

function browserFacts() {
  const { userAgent } = navigator;
  const { crossOriginIsolated, isSecureContext } = window;
  return { userAgent, crossOriginIsolated, isSecureContext, openedFrom: location.protocol };
}

// ------------------------------------------------------------------------ one back end

/** A difference as it is written: JSON has no numbers beyond all others. @param {Difference} found */
const written = ({ box, score }) =>
  Number.isFinite(box + score) ? { box, score } : "a box without a partner";

/** @param {Difference[]} found @returns {Difference} The largest. */
const largest = (found) => ({
  box: Math.max(0, ...found.map(({ box }) => box)),
  score: Math.max(0, ...found.map(({ score }) => score)),
});

const rowsOf = (boxes) => Float32Array.from(boxes.flat());

/** Detect in one sample. @param {Detector} detector */
async function trySample(detector, { asset, title, type, pixels, boxes }, settings) {
  const blob = new Blob([await assetBytes(asset)], { type });
  const print = await detector.fingerprint(await createImageBitmap(blob));
  const { detections, bitmap } = await detector.detect(await createImageBitmap(blob), settings);
  bitmap.close();
  const found = detections.map(({ x1, y1, x2, y2, score, classId }) => {
    return [x1, y1, x2, y2, score, classId];
  });
  const difference = outputDifference(rowsOf(found), rowsOf(boxes), "finished", 6);
  return { title, pixelsAsInPython: print.pixels === pixels, boxes: found.length, difference };
}

/** What runs the model on WebGPU; throws where nothing does. */
async function adapterOf(backend) {
  if (backend !== "webgpu") return {};
  const { adapter, note } = await findAdapter();
  if (!adapter) throw new Error(note);
  await loadWebgpuRuntime();
  return { adapter };
}

/** @param {string} backend @param {Detector} detector */
async function tryBackend(backend, detector) {
  const about = await adapterOf(backend);
  const { asset, noted, ...given } = await forDetector(builtinModel(false), backend);
  const expected = await assetJson(`${asset}-boxes`);
  const info = await detector.load(given);
  const { thresholds, iou, threads, checked } = info;
  const settings = { confidence: thresholds, iou, enabled: null };
  const samples = [];
  for (const sample of expected) {
    samples.push(await trySample(detector, sample, settings));
  }
  const difference = largest(samples.map((sample) => sample.difference));
  const equal = samples.filter((sample) => isClose(sample.difference)).length;
  const near = samples.filter((sample) => isClose(sample.difference, LIMITS_OF_INTEGERS)).length;
  const { file, weights, sha256 } = /** @type {Record<string, string>} */ (noted);
  const isEqual = equal === samples.length;
  const isNear = weights === "int8" && near >= samples.length / 2;
  const isRight = isEqual || isNear;
  return {
    ...about,
    outcome: isEqual ? RIGHT : isNear ? NEAR : WRONG,
    samplesWithPythonsBoxes: `${equal} of ${samples.length}`,
    threads,
    model: { file, weights, sha256 },
    difference: written(difference),
    checked,
    millisecondsAnInference: await detector.measure(MEASURED_FRAMES),
    samples: samples.map((sample) => ({ ...sample, difference: written(sample.difference) })),
    isRight,
    found: detector.found,
  };
}

/** Try a back end in a worker of its own; what fails is said. @param {string} backend */
async function report(backend) {
  const nothing = () => {};
  const detector = new Detector({ onProgress: nothing, onLost: nothing, onSlow: nothing });
  try {
    return { backend, ...(await tryBackend(backend, detector)) };
  } catch (error) {
    const { message, code } = /** @type {Error & {code?: string}} */ (error);
    const failed = code === "webgpu-failed" || code === "device-lost";
    const outcome = backend === "wasm" || failed ? "failed" : "not there";
    return { backend, outcome, reason: message, isRight: outcome === "not there", found: null };
  } finally {
    detector.cancel();
  }
}

// ------------------------------------------------------------------------ the whole

/** @returns {Promise<object>} The report. */
export async function selfTest() {
  const backends = [];
  for (const backend of ["wasm", "webgpu"]) {
    say(`Self-test: ${backend === "wasm" ? "WebAssembly" : "WebGPU"}…`);
    backends.push(await report(backend));
  }
  const { reading, canvasIsExact, runtime } = backends[0].found ?? {};
  const pixelsAreRight = reading === "canvas" || reading === "frame";
  return {
    report: "self-test of the detection page",
    passed: backends.every(({ isRight }) => isRight) && pixelsAreRight,
    created: new Date().toISOString(),
    device: await deviceFacts(),
    browser: browserFacts(),
    otherWork: activity.running, // which makes the milliseconds more
    versions: {
      program: crc32(new TextEncoder().encode(WORKER_TEXT)).toString(16).padStart(8, "0"),
      onnxruntimeWeb: runtime,
    },
    pixels: { canvasGivesWhatWasDrawn: canvasIsExact, readBy: reading },
    backends: backends.map(({ isRight, found, ...said }) => said),
  };
}

async function showSelfTest() {
  const [button, field] = [byId("selftest"), byId("selftest-result", "textarea")];
  button.disabled = true;
  try {
    const found = /** @type {{passed: boolean}} */ (await selfTest());
    byId("selftest-shown").hidden = false;
    field.textContent = JSON.stringify(found, null, 2);
    const text = found.passed ? "Self-test passed." : "Self-test failed; the report says what.";
    setText(byId("selftest-note"), text);
    say(text, !found.passed);
  } finally {
    button.disabled = false;
  }
}

async function copyReport() {
  const field = byId("selftest-result", "textarea");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    say("Copied the report.");
  } catch {
    say("The browser lets the page copy nothing: copy the report out of its field.");
  }
}

export function wireSelfTest() {
  byId("selftest").addEventListener("click", () => attempt(showSelfTest));
  byId("selftest-copy").addEventListener("click", () => attempt(copyReport));
}

/** Do it at once where the address asks for it. */
export async function selfTestIfAsked() {
  if (!givenAddress().has("selftest")) return;
  byId("selftest-card", "details").open = true;
  await showSelfTest();
}
