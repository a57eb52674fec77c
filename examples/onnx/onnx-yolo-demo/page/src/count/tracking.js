/**
 * Which detections of successive frames are the same thing.
 *
 * As SORT does it (Bewley et al., 2016, arXiv 1602.00763), but simpler: every known
 * thing is expected where its speed takes it, and is paired with the detection of its class that
 * overlaps this place most. Without the speed, two things that meet would exchange their numbers.
 * It is a speed in time, not in frames, because a busy device leaves frames out.
 */
import { pairBoxes } from "./matching.js";

/** @import {NamedDetection} from "../page/drawing.js" */

const LEAST_OVERLAP = 0.3;
const SURE_AFTER = 3; // frames in a row; what is seen for shorter gets no number
const LOST_AFTER = 30; // frames without it
const USUAL_SECONDS = 1 / 30; // between two frames

/**
 * A thing that is followed: the class, the last box, the speed in pixels per second.
 * @typedef {object} Track
 * @property {string} name
 * @property {NamedDetection} box
 * @property {number} speedX
 * @property {number} speedY
 * @property {number} hits Frames that it was found in.
 * @property {number} missed Frames since then.
 * @property {number} seconds How long ago it was found, as of the present frame.
 * @property {number} number From 1 in its class; 0 as long as it isn't sure.
 */

/** @returns {Track} */
function makeTrack(name, box) {
  return { name, box, speedX: 0, speedY: 0, hits: 1, missed: 0, seconds: 0, number: 0 };
}

/** Where a thing should be in the present frame. */
function expected(track) {
  const { name, box, speedX, speedY, seconds } = track;
  const [right, down] = [speedX * seconds, speedY * seconds];
  const { x1, y1, x2, y2 } = box;
  return { name, track, x1: x1 + right, y1: y1 + down, x2: x2 + right, y2: y2 + down };
}

/** Half the change of the centre since the last time, and half the speed that was known. */
function moveTo(track, box) {
  const { seconds } = track;
  const centre = (one) => [(one.x1 + one.x2) / 2, (one.y1 + one.y2) / 2];
  const [[oldX, oldY], [x, y]] = [centre(track.box), centre(box)];
  const share = track.hits === 1 ? 1 : 0.5;
  track.speedX += share * ((x - oldX) / seconds - track.speedX);
  track.speedY += share * ((y - oldY) / seconds - track.speedY);
  Object.assign(track, { box, hits: track.hits + 1, missed: 0, seconds: 0 });
}

export class Tracker {
  /** @type {Track[]} */
  #tracks = [];
  /** How many of each class have got a number. @type {Map<string, number>} */
  seen = new Map();

  /**
   * Take the detections of the next frame.
   * @param {NamedDetection[]} detections
   * @param {number} [seconds] Since the frame before; more than 0.
   * @returns {Track[]} The things found in it, in the order of the detections.
   */
  update(detections, seconds = USUAL_SECONDS) {
    for (const track of this.#tracks) track.seconds += seconds;
    const pairs = pairBoxes(this.#tracks.map(expected), detections, LEAST_OVERLAP);
    const known = new Map([...pairs].map(([{ track }, box]) => [box, track]));
    const found = detections.map((box) => this.#follow(known.get(box), box));
    for (const track of this.#tracks) if (!found.includes(track)) track.missed += 1;
    // What is not sure has to be seen in every frame.
    this.#tracks = this.#tracks.filter(
      ({ missed, number }) => missed === 0 || (number > 0 && missed < LOST_AFTER),
    );
    return found;
  }

  /**
   * Number other detections of the frame that was taken last; the things stay as they are.
   * @param {NamedDetection[]} detections
   */
  numberAgain(detections) {
    const present = this.#tracks.filter(({ missed, number }) => missed === 0 && number > 0);
    const places = present.map(({ box, name, number }) => ({ ...box, name, number }));
    for (const [{ number }, box] of pairBoxes(places, detections, LEAST_OVERLAP)) {
      box.number = number;
    }
  }

  /** @param {Track|undefined} known @param {NamedDetection} box @returns {Track} */
  #follow(known, box) {
    const { name } = box;
    const track = known ?? makeTrack(name, box);
    if (known) moveTo(known, box);
    else this.#tracks.push(track);
    if (track.hits === SURE_AFTER) {
      track.number = (this.seen.get(name) ?? 0) + 1;
      this.seen.set(name, track.number);
    }
    return track;
  }
}
