/**
 * Follows one model's detections over the frames of a camera or video, and tells what to draw.
 *
 * @import {NamedDetection} from "../page/drawing.js"
 * @import {Frame} from "../page/stage.js"
 * @import {State, Track} from "./tracking.js"
 */
import { drawn, follow, judged, jumped, KNOWN, NOTHING, withoutNumbers } from "./tracking.js";

const LONGEST_GAP = 1; // seconds between frames; after more, somebody paused or went elsewhere

/**
 * What scores a detector has to exceed for a frame.
 * @param {Frame} frame
 * @param {number[]} thresholds Of the classes.
 */
export const leastScores = ({ live }, thresholds) =>
  live ? thresholds.map((threshold) => KNOWN * threshold) : thresholds;

export class Follower {
  #source = ""; // of the frames
  #lastTime = Number.NaN; // of the last frame, in seconds of the film or the camera
  #seconds = Number.NaN; // from the frame before to the last one
  /** @type {{state: State, limits: number[]}} */
  #before = { state: NOTHING, limits: [] }; // the last frame
  /** @type {{state: State, limits: number[]}} */
  #present = { state: NOTHING, limits: [] };

  /** How many things of each class have got a number. */
  get seen() {
    return this.#present.state.seen;
  }

  /** Take all numbers back. */
  restart() {
    for (const one of [this.#before, this.#present]) one.state = withoutNumbers(one.state);
  }

  /**
   * Take a frame's detections. At other thresholds, say, a frame may be taken again.
   * @param {Frame} frame After one that isn't of a camera or video, nothing is known.
   * @param {NamedDetection[]} detections With scores above `leastScores`.
   * @param {{confidence: number[], enabled: number[]|null}} settings See nms.js.
   * @param {string} model Another one begins again.
   * @returns {Track[]} What is drawn, best first.
   */
  take({ live, title, again, mediaTime = Number.NaN }, detections, settings, model = "") {
    const source = live ? [live, title, model].join("\n") : "";
    if (source !== this.#source) {
      this.#source = source;
      this.#present = { state: NOTHING, limits: [] };
      this.#lastTime = Number.NaN;
    }
    if (!live) return [];
    if (!again || Number.isNaN(this.#lastTime)) {
      this.#before = this.#present;
      this.#seconds = mediaTime - this.#lastTime;
      this.#lastTime = mediaTime;
    }
    const plays = this.#seconds > 0 && this.#seconds < LONGEST_GAP;
    const { confidence, enabled } = settings;
    const limits = confidence.map((limit, classId) =>
      enabled === null || enabled.includes(classId) ? limit : Number.POSITIVE_INFINITY,
    );
    let { state } = this.#before;
    if (String(limits) !== String(this.#before.limits)) state = judged(state, limits);
    if (!plays) state = jumped(state);
    state = follow(state, detections, limits, plays ? this.#seconds : undefined);
    this.#present = { state, limits };
    return drawn(state);
  }
}
