/**
 * Which detections of successive frames are the same thing, and which boxes are drawn.
 *
 * As ByteTrack does it (Zhang et al., 2022, arXiv 2110.06864), but simpler: a thing is expected
 * where its speed takes it. Detections above their threshold choose among the things that are drawn
 * or known by a number; a weak detection may then keep a thing that is drawn. So a score near the
 * threshold doesn't make a box come and go.
 *
 * What comes into the picture is drawn at once if its score is clearly above the threshold, and so
 * is all that is above it in the first frame. Other things are followed without being drawn until
 * their scores' excess over the threshold adds up (a cumulative sum, as Page's test of 1954 has it):
 * a score that trembles about the threshold would else draw a box sooner or later.
 *
 * Speeds and waiting times are in seconds, because a busy device leaves frames out. Nothing here
 * changes what it is given: a frame that is seen again, at other thresholds, say, is taken again
 * from the state before it. `page/test/tracks.json` has the rules as frames and their outcomes.
 */
import { pairBoxes } from "./matching.js";

/** @import {NamedDetection} from "../page/drawing.js" */

/** What a detection's score has to exceed to be followed, as a share of its class's threshold. */
export const KNOWN = 0.2;
const STAY = 0.4; // to keep a thing that is drawn
const CLEARLY = 1.5; // to be drawn at once where nothing was known
const CLEARLY_MORE = 2; // to be drawn at once where a thing was weak before
const ENOUGH = 0.3; // thresholds times seconds: the sum from which a weak thing is drawn
const LONGEST_STEP = 0.25; // seconds that one frame counts for in that sum
const LEAST_OVERLAP = 0.1;
// How long in a row a thing has to be above its threshold; what is seen for shorter isn't counted.
const SURE = { frames: 3, seconds: 0.5 };
const LOST_AFTER = 30; // frames without it
const DRAWN_SECONDS = 0.25; // without it
const KNOWN_SECONDS = 1; // without it, of a thing that isn't drawn
const LOST_SECONDS = 1e9; // of what is known by its place only
const USUAL_SECONDS = 1 / 30; // between two frames
// How fast drawn corners follow: per second, and per side of the box that they are behind.
const CORNERS = { bySecond: 5, bySide: 30 };
const SCORE_BY_SECOND = 2;
const LEAST_NEW_SPEED = 0.25; // share of the newest speed in the known one

/**
 * A thing that is followed.
 * @typedef {object} Track
 * @property {object} thing The same one in all frames.
 * @property {NamedDetection} box Smoothed, when it was found last.
 * @property {boolean} shown Whether it has ever been drawn.
 * @property {number} excess Of its scores over the threshold, while it isn't drawn.
 * @property {number} speedX In pixels per second.
 * @property {number} speedY
 * @property {number} hits Frames that it was found in.
 * @property {number} inRow The last of them without a gap, each above the threshold.
 * @property {number} aboveSeconds How long these took.
 * @property {number} missed Frames since then.
 * @property {number} seconds How long ago it was found.
 * @property {number} number From 1 in its class; 0 as long as it isn't sure.
 */

/**
 * @typedef {object} State What is known after a frame.
 * @property {Track[]} tracks
 * @property {Record<string, number>} seen How many of each class have got a number.
 * @property {boolean} isFresh Whether the next frame is to be judged without what was before.
 */

/** @type {State} Before the first frame. */
export const NOTHING = { tracks: [], seen: {}, isFresh: true };

const SIDES = /** @type {const} */ (["x1", "y1", "x2", "y2"]);
const isRecent = ({ seconds }) => seconds <= DRAWN_SECONDS;
const isKept = ({ seconds, shown, number, missed }) =>
  seconds <= (shown ? DRAWN_SECONDS : KNOWN_SECONDS) || (number > 0 && missed < LOST_AFTER);

/** Where a thing should be in the present frame. @param {Track} track @returns {NamedDetection} */
function expected({ box, speedX, speedY, seconds }) {
  const [right, down] = [speedX * seconds, speedY * seconds];
  const { x1, y1, x2, y2 } = box;
  return { ...box, x1: x1 + right, y1: y1 + down, x2: x2 + right, y2: y2 + down };
}

/** @param {NamedDetection} box @param {boolean} shown @returns {Track} */
function newTrack(box, shown) {
  const still = { excess: 0, speedX: 0, speedY: 0, missed: 0, seconds: 0 };
  return {
    thing: {},
    box,
    shown,
    ...still,
    hits: 1,
    inRow: Number(shown),
    aboveSeconds: 0,
    number: 0,
  };
}

/** A detection, smoothed: what trembles about the old box hardly moves, what moves is followed. */
function smoothed(old, found, seconds) {
  const behind = Math.max(...SIDES.map((side) => Math.abs(found[side] - old[side])));
  const side = Math.max((found.x2 - found.x1 + found.y2 - found.y1) / 2, 1);
  const corners = 1 - Math.exp(-CORNERS.bySecond * seconds - (CORNERS.bySide * behind) / side);
  const score = 1 - Math.exp(-SCORE_BY_SECOND * seconds);
  const part = (key, share) => [key, old[key] + share * (found[key] - old[key])];
  const parts = [...SIDES.map((key) => part(key, corners)), part("score", score)];
  return { ...found, ...Object.fromEntries(parts) };
}

/** A thing that is found again. @param {Track} track @param {NamedDetection} found @returns {Track} */
function foundAgain(track, found, limit, isFresh) {
  const { seconds, hits } = track;
  const box = smoothed(expected(track), found, seconds);
  const speed = (known, low, high) => {
    const way = (box[low] + box[high] - track.box[low] - track.box[high]) / 2;
    return known + Math.max(1 / hits, LEAST_NEW_SPEED) * (way / seconds - known);
  };
  const step = (found.score / limit - 1) * Math.min(seconds, LONGEST_STEP);
  const excess = track.shown ? 0 : Math.max(track.excess + step, 0);
  const isClear = found.score > (isFresh ? 1 : CLEARLY_MORE) * limit;
  const shown = track.shown || excess > ENOUGH || isClear;
  const isAbove = shown && found.score > limit;
  if (shown && !track.shown) box.score = Math.max(box.score, found.score);
  return {
    ...track,
    box,
    shown,
    excess,
    speedX: speed(track.speedX, "x1", "x2"),
    speedY: speed(track.speedY, "y1", "y2"),
    hits: hits + 1,
    inRow: isAbove ? track.inRow + 1 : 0,
    aboveSeconds: isAbove && track.inRow ? track.aboveSeconds + seconds : 0,
    missed: 0,
    seconds: 0,
  };
}

/** Pair what is left of things and detections, at the expected places first, then at the last ones. */
function pairInto(pairs, tracks, detections) {
  for (const placeOf of [expected, ({ box }) => box]) {
    const taken = new Set(pairs.values());
    const left = tracks.filter((track) => !pairs.has(track));
    const places = new Map(left.map((track) => [placeOf(track), track]));
    const others = detections.filter((one) => !taken.has(one));
    for (const [place, one] of pairBoxes([...places.keys()], others, LEAST_OVERLAP)) {
      pairs.set(places.get(place), one);
    }
  }
}

/** Give numbers to what has become sure. @param {Track[]} tracks @returns {State} */
function numbered(tracks, seenBefore) {
  const seen = { ...seenBefore };
  const sure = tracks.map((track) => {
    const isSure = track.inRow >= SURE.frames && track.aboveSeconds >= SURE.seconds;
    if (track.number > 0 || !isSure) return track;
    const { name } = track.box;
    seen[name] = (seen[name] ?? 0) + 1;
    return { ...track, number: seen[name] };
  });
  return { tracks: sure, seen, isFresh: false };
}

/**
 * Take the detections of the next frame.
 * @param {State} before
 * @param {NamedDetection[]} detections With scores above `KNOWN` of their classes' thresholds.
 * @param {number[]} thresholds Of the classes.
 * @param {number} [seconds] Since the frame before; more than 0.
 * @returns {State}
 */
export function follow(before, detections, thresholds, seconds = USUAL_SECONDS) {
  const exceeds = (share) => (one) => one.score > share * thresholds[one.classId];
  const isConfident = exceeds(1);
  const known = before.tracks.map((track) => ({ ...track, seconds: track.seconds + seconds }));
  const wasRecent = new Set(known.filter((_, k) => isRecent(before.tracks[k])));
  const shown = known.filter((track) => track.shown);
  const hidden = known.filter((track) => !track.shown);
  const pairs = new Map();
  pairInto(pairs, shown, detections.filter(isConfident));
  const weak = detections.filter(exceeds(STAY)).filter((one) => !isConfident(one));
  pairInto(
    pairs,
    shown.filter((track) => wasRecent.has(track)),
    weak,
  );
  pairInto(pairs, hidden, detections);
  const old = known.map((track) => {
    const found = pairs.get(track);
    if (found) return foundAgain(track, found, thresholds[found.classId], before.isFresh);
    return { ...track, inRow: 0, aboveSeconds: 0, missed: track.missed + 1 };
  });
  const taken = new Set(pairs.values());
  const fresh = detections
    .filter((one) => !taken.has(one))
    .map((one) => newTrack(one, exceeds(before.isFresh ? 1 : CLEARLY)(one)));
  return numbered([...old.filter(isKept), ...fresh], before.seen);
}

/**
 * The state where a film jumps: what has a number may be known again by its place, and nothing else
 * stays.
 * @param {State} state
 * @returns {State}
 */
export function jumped({ tracks, seen }) {
  const far = { speedX: 0, speedY: 0, seconds: LOST_SECONDS };
  const known = tracks.filter(({ number }) => number > 0);
  return { tracks: known.map((track) => ({ ...track, ...far })), seen, isFresh: true };
}

/** The state at other thresholds: only what is above them in the mean, or in the next frame, is drawn. */
export function judged({ tracks, seen }, thresholds) {
  const isShown = ({ shown, box }) => shown && box.score > thresholds[box.classId];
  return {
    tracks: tracks.map((track) => ({ ...track, shown: isShown(track) })),
    seen,
    isFresh: true,
  };
}

/** The state with all numbers taken back; what is sure gets one in the next frame. */
export function withoutNumbers({ tracks, isFresh }) {
  return { tracks: tracks.map((track) => ({ ...track, number: 0 })), seen: {}, isFresh };
}

/** What is drawn, best first; a `box` is where it is now. @param {State} state @returns {Track[]} */
export function drawn({ tracks }) {
  return tracks
    .filter((track) => track.shown && isRecent(track))
    .map((track) => ({ ...track, box: expected(track) }))
    .toSorted((one, other) => other.box.score - one.box.score);
}
