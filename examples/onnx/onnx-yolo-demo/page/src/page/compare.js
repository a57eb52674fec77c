/**
 * The card "Compare": a second model sees the same frames, after the first one, in its own worker.
 *
 * The stage shows the first model's boxes left of a divide that the user moves, and the second
 * model's right of it.
 *
 * @import {Info, Times} from "./detector.js"
 * @import {Drawing, NamedDetection} from "./drawing.js"
 * @import {Frame, Shown} from "./stage.js"
 */

import { Follower, leastScores } from "../count/follower.js";
import { pairBoxes } from "../count/matching.js";
import { FrameTimes } from "./chart.js";
import { Detector } from "./detector.js";
import { byId } from "./environment.js";
import { alone, forDetector, ownModel } from "./model.js";
import { addLayer, redraw } from "./stage.js";
import { demo, say } from "./status.js";
import { decimal, sentence, setText } from "./text.js";

const AGREEMENT = 0.5; // overlap of two boxes of the same class

/** @type {Info & {modelName: string}|null} */
let info = null; // of the second model, while there is one
const follower = new Follower();
const times = { first: new FrameTimes(), second: new FrameTimes() };
const detector = new Detector({
  onProgress: () => {},
  onLost: (reason) => end(`the graphics device is gone (${reason})`),
  onSlow: () => {},
});

/** End the comparison. @param {string} why "" if the user wished it. */
function end(why) {
  info = null;
  detector.cancel();
  showCard(why);
}

/** @param {File} file */
async function load(file) {
  const second = ownModel(file);
  const { name } = second;
  say(`Loading ${name} to compare with…`);
  byId("compare-end").hidden = false;
  try {
    await alone(async () => {
      const backend = demo.info?.backend ?? "wasm"; // whose runtime is in the page
      const found = await detector.load(await forDetector(second, backend));
      info = { ...found, modelName: name };
    });
  } catch (error) {
    const { code, message } = /** @type {Error & {code?: string}} */ (error);
    if (!detector.loaded) info = null;
    if (code === "cancelled") say(`Stopped loading ${name}.`);
    else showCard(`file ${name}: ${message}`);
    return;
  }
  for (const one of Object.values(times)) one.clear();
  showCard("");
}

// ------------------------------------------------------------------------ a frame

/**
 * The first model's settings for the second one: classes of a name have the same thresholds, and are
 * off in both; others have the lowest threshold.
 */
function forSecond({ confidence, iou, enabled }, names) {
  const first = demo.info?.names ?? [];
  const least = Math.min(...confidence);
  const off = first.filter((_, classId) => enabled && !enabled.includes(classId));
  return {
    confidence: names.map((name) => confidence[first.indexOf(name)] ?? least),
    iou,
    enabled: names.flatMap((name, classId) => (off.includes(name) ? [] : [classId])),
  };
}

/**
 * Let the second model look at a frame.
 * @param {Frame & {bitmap: ImageBitmap}} frame Its bitmap stays as it is.
 * @param {{confidence: number[], iou: number, enabled: number[]|null}} settings Of the first model.
 * @returns {Promise<(first: NamedDetection[], times: Times) => NamedDetection[]|undefined>} To be
 *   called with what the first model shows, if the frame is still wanted: what the second one shows;
 *   undefined if there is none, or it fails, which ends the comparison.
 */
export async function compare(frame, settings) {
  if (!info) return () => undefined;
  const { names, modelName } = info;
  const used = forSecond(settings, names);
  const { confidence } = used;
  const least = { ...used, confidence: leastScores(frame, confidence) };
  try {
    const result = await detector.detect(await createImageBitmap(frame.bitmap), least);
    result.bitmap.close();
    const found = result.detections.map((one) => ({ ...one, name: names[one.classId] }));
    return (first, firstTimes) => {
      const tracks = follower.take(frame, found, used, modelName);
      const second = frame.live ? tracks.map(({ box }) => box) : found;
      times.first.push(firstTimes, performance.now());
      times.second.push(result.times, performance.now());
      showNumbers(first, second);
      return second;
    };
  } catch (error) {
    const { code, message } = /** @type {Error & {code?: string}} */ (error);
    if (code !== "cancelled") end(`model ${modelName}: ${message}`);
    return () => undefined;
  }
}

// ------------------------------------------------------------------------ what is shown

/** @param {string} note What went wrong; "" for nothing. */
function showCard(note) {
  byId("compare-note").hidden = !note;
  setText(byId("compare-note"), note ? sentence(note) : "");
  byId("compare-end", "button").hidden = info === null;
  byId("compare-shown").hidden ||= info === null; // it is shown with its first numbers
}

function showNumbers(first, second) {
  const agree = pairBoxes(first, second, AGREEMENT).size;
  const what = `same class, overlap (IoU) at least ${AGREEMENT}`;
  setText(byId("compare-agree"), `Boxes that agree: ${agree} (${what}).`);
  byId("compare-shown").hidden = false;
  const rows = byId("compare-rows", "tbody").rows;
  [
    [demo.info?.modelName ?? "", first.length, times.first],
    [info?.modelName ?? "", second.length, times.second],
  ].forEach(([name, count, taken], row) => {
    const [title, boxes, ms] = rows[row].cells;
    setText(title, name);
    setText(boxes, String(count));
    setText(ms, decimal(taken.median("inference"), 1));
  });
}

/** Draw the second model's boxes right of the divide. @param {Drawing} drawing @param {Shown} shown */
function paint(drawing, { bitmap, second, mirrored }) {
  if (second) drawing.drawBeside(bitmap, second, mirrored, Number(byId("divide").value) / 100);
}

/** @param {() => void} onChange Called when the present picture has to be seen again. */
export function wireCompare(onChange) {
  addLayer({ paint });
  byId("compare-file").addEventListener("change", async () => {
    const file = byId("compare-file").files?.[0];
    byId("compare-file").value = "";
    if (file) await load(file);
    onChange();
  });
  byId("compare-end").addEventListener("click", () => {
    end("");
    byId("compare-file").focus(); // the button with the keyboard's place is gone
    onChange();
  });
  byId("divide").addEventListener("input", redraw);
}
