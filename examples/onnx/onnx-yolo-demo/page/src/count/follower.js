/**
 * Follows one model's detections over the frames of a camera or video, and tells what to draw.
 *
 * @import {NamedDetection} from "../page/drawing.js"
 * @import {Frame} from "../page/stage.js"
 * @import {State, Track} from "./tracking.js"
 */
import { drawn, follow, jumped, NOTHING, STAY, withoutNumbers } from "./tracking.js";

const LONGEST_GAP = 1; // seconds between frames; after more, somebody paused or went elsewhere

/**
 * What scores a detector has to exceed for a frame.
 * @param {Frame} frame
 * @param {number[]} thresholds Of the classes.
 */
export const leastScores = ({ live }, thresholds) =>
  live ? thresholds.map((threshold) => STAY * threshold) : thresholds;

export class Follower {
  #source = ""; // of the frames
  #lastTime = Number.NaN; // of the last frame, in seconds of the film or the camera
  #seconds = Number.NaN; // from the frame before to the last one
  /** @type {State} */
  #before = NOTHING; // the last frame
  /** @type {State} */
  #present = NOTHING;

  /** How many things of each class have got a number. */
  get seen() {
    return this.#present.seen;
  }

  /** Take all numbers back. */
  restart() {
    this.#before = withoutNumbers(this.#before);
    this.#present = withoutNumbers(this.#present);
  }

  /**
   * Take a frame's detections. At other thresholds, say, a frame may be taken again.
   * @param {Frame} frame After one that isn't of a camera or video, nothing is known.
   * @param {NamedDetection[]} detections With scores above `leastScores`.
   * @param {number[]} thresholds
   * @param {string} model Another one begins again.
   * @returns {Track[]} What is drawn, best first.
   */
  take({ live, title, again, mediaTime = Number.NaN }, detections, thresholds, model = "") {
    const source = live ? [live, title, model].join("\n") : "";
    if (source !== this.#source) {
      this.#source = source;
      this.#present = NOTHING;
      this.#lastTime = Number.NaN;
    }
    if (!live) return [];
    if (!again || Number.isNaN(this.#lastTime)) {
      this.#before = this.#present;
      this.#seconds = mediaTime - this.#lastTime;
      this.#lastTime = mediaTime;
    }
    const plays = this.#seconds > 0 && this.#seconds < LONGEST_GAP;
    this.#present = plays
      ? follow(this.#before, detections, thresholds, this.#seconds)
      : follow(jumped(this.#before), detections, thresholds);
    return drawn(this.#present);
  }
}
