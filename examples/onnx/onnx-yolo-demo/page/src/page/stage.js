/**
 * What is on the stage, and the numbers next to it: the picture, its boxes, the list, the times.
 *
 * It owns the shown bitmap: whoever hands one over must not close it. So boxes always lie on the
 * very frame they belong to, and no frame is kept longer than it is seen.
 *
 * @import {Track} from "../count/tracking.js"
 * @import {Times} from "./detector.js"
 * @import {NamedDetection} from "./drawing.js"
 */
import { FrameTimes, TimeChart } from "./chart.js";
import { Drawing } from "./drawing.js";
import { byId } from "./environment.js";
import { DetectionList } from "./lists.js";
import { showSeen } from "./sees.js";
import { activity, demo, settle } from "./status.js";
import { decimal, setText } from "./text.js";

const NUMBERS_EVERY_MS = 250;
/** What takes the longest of a frame; see `FrameTimes.limit`. */
const LIMITS = {
  pre: "preparing the picture",
  inference: "the network",
  post: "choosing boxes",
  rest: "drawing and all else",
};

/**
 * A frame: where it is from, and whether the stage shows it as a mirror does.
 * @typedef {{title: string, mirrored: boolean, live?: "camera"|"screen"|"video",
 *   waited?: number, file?: Blob, again?: boolean, mediaTime?: number}} Frame
 *   `waited`: milliseconds that the loop had nothing to do before it. `again`: it was on the stage
 *   already. `mediaTime`: of a live frame, in seconds of its film or camera.
 */
/**
 * @typedef {Frame & {bitmap: ImageBitmap, detections: NamedDetection[], second?: NamedDetection[],
 *   tracks?: Track[]}} Shown `second`: see compare.js. `tracks` of the detections, in their order;
 *   none in a picture.
 */

const drawing = new Drawing(byId("stage", "canvas"));
const chart = new TimeChart(byId("chart", "canvas"));
const frameTimes = new FrameTimes();
const list = new DetectionList(
  byId("detections"),
  byId("detections-count"),
  byId("detections-empty"),
);

/**
 * What other parts add to the stage: `see` gets a frame's detections before they are drawn, `paint`
 * draws over them.
 * @typedef {object} Layer
 * @property {(frame: Frame & {bitmap: ImageBitmap, tracks?: Track[]}, detections: NamedDetection[]) =>
 *   void} [see]
 * @property {(drawing: Drawing, shown: Shown) => void} [paint]
 */
/** @type {Layer[]} */
const layers = [];

/** @type {Shown|null} */
let shown = null;
let seen = false; // whether `demo.last` is what is on the stage
let numbersAt = 0; // when the numbers were written last

/** @returns {Shown|null} What is on the stage. */
export function onStage() {
  return shown;
}

/** @param {Layer} layer */
export function addLayer(layer) {
  layers.push(layer);
}

/** @param {Shown} next */
function paint(next) {
  drawing.draw(next.bitmap, next.detections, next.mirrored);
  for (const layer of layers) layer.paint?.(drawing, next);
}

/** @param {Shown} next */
function replace(next) {
  paint(next);
  if (shown && shown.bitmap !== next.bitmap) shown.bitmap.close();
  shown = next;
}

/** List no detections until the stage's picture has some; `demo.last` stays. */
export function forgetDetections() {
  seen = false;
  list.show(null);
  showSeen(null, false);
}

/** @returns {boolean} Whether `demo.last` is what is on the stage. */
export const isSeen = () => seen;

/**
 * Put a picture on the stage, without boxes.
 * @param {ImageBitmap} bitmap
 * @param {string} title
 * @param {Blob} [file] That it is from.
 */
export function putOnStage(bitmap, title, file) {
  forgetDetections();
  replace({ bitmap, title, mirrored: false, detections: [], file });
  showNumbers();
}

/**
 * Show a frame with its detections, which become `demo.last`.
 * @param {Frame & {bitmap: ImageBitmap, second?: NamedDetection[], tracks?: Track[],
 *   found?: NamedDetection[]}} frame `found`: what the model has found in this very frame.
 * @param {NamedDetection[]} detections What is drawn.
 * @param {Times} times
 * @param {object} settings They were found with.
 */
export function showDetections(frame, detections, times, settings) {
  const { bitmap, mirrored, title, found } = frame;
  for (const layer of layers) layer.see?.(frame, detections);
  replace({ ...frame, detections });
  demo.frames += 1;
  demo.last = {
    detections,
    found,
    width: bitmap.width,
    height: bitmap.height,
    times,
    frame: demo.frames,
    title,
    mirrored,
    scale: drawing.scale,
    settings,
  };
  demo.firstResultMs ??= performance.now();
  list.show(detections);
  showSeen(detections, Boolean(frame.live));
  if (!seen) {
    seen = true;
    settle();
  }
  frameTimes.push(times, performance.now(), frame.waited);
  chart.push(times);
  showNumbers();
}

/** Letters and lines are as thick on a smaller stage. */
export function redraw() {
  if (shown && !activity.running) paint(shown);
}

/** Draw again whenever the stage's size changes. */
export function watchSize() {
  new ResizeObserver(redraw).observe(byId("stage"));
}

/** @returns {string} How many frames a second there are, and what there are no more for. */
function rateText() {
  const limit = activity.running ? frameTimes.limit() : null;
  if (!limit) return "";
  const fps = frameTimes.fps();
  const rate = `${decimal(fps, fps < 9.95 ? 1 : 0)} frames/s`;
  if (limit.part === "source") return `${rate}, as many as the ${shown?.live} gives.`;
  const share = `${limit.ms.toFixed(0)} of ${limit.of.toFixed(0)} ms a frame`;
  return `${rate}, limited by ${LIMITS[limit.part]}: ${share}.`;
}

/** Write the frames' medians and their rate, now and then; of a picture, its times. */
export function showNumbers() {
  const now = performance.now();
  if (activity.running && now - numbersAt < NUMBERS_EVERY_MS) return;
  numbersAt = now;
  const live = shown?.live;
  let sum = 0;
  for (const name of /** @type {const} */ (["pre", "inference", "post"])) {
    const last = seen ? frameTimes.last(name) : Number.NaN;
    const ms = live ? frameTimes.median(name) : last;
    sum += ms;
    setText(byId(`time-${name}`), decimal(ms, 1));
  }
  setText(byId("frame-ms"), decimal(sum, 0));
  setText(byId("frame-unit"), live ? "ms a frame" : "ms for this picture");
  setText(byId("limit"), rateText());
}

/** Take what an inference takes when the runtime is warm, if there was no other one yet. */
export function noteWarm(ms) {
  frameTimes.correctFirst(ms);
  showNumbers();
}

/** Forget the times of another model. */
export function clearTimes() {
  frameTimes.clear();
  chart.clear();
}

/** Begin with the medians and the rate again. */
export const restartRate = () => frameTimes.clear();
export const restyleChart = () => chart.restyle();
export const snapshot = () => drawing.snapshot();
