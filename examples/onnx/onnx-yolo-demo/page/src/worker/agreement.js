/**
 * Whether two back ends compute the same with one model: their raw outputs for one picture.
 *
 * @import {Layout} from "./outputs.js"
 */

/** The largest differences of a box's numbers, in pixels of the input, of a score, and of what it is
 * the sigmoid of, where that is known.
 * @typedef {{box: number, score: number, logit?: number}} Difference
 */

/** What differs by more is computed wrongly, where nobody measured how much less rounding makes. */
export const LIMITS = { box: 0.5, score: 0.005 };

const SEEN = 0.05; // finished boxes of lower scores may be any, and in any order

/** @param {Difference} difference @param {Difference} [limits] @returns {boolean} */
export function isClose({ box, score, logit = 0 }, limits = LIMITS) {
  return box <= limits.box && score <= limits.score && logit <= (limits.logit ?? 0);
}

/** @param {number} width Numbers of a box. @param {boolean} inRows Whether each has a row. */
function differenceOfCells(one, other, width, inRows) {
  const most = [0, 0];
  const boxes = one.length / width;
  for (let k = 0; k < one.length; k++) {
    const place = inRows ? Math.floor(k / boxes) : k % width;
    const kind = place < 4 ? 0 : 1;
    const gap = Math.abs(one[k] - other[k]);
    if (Number.isNaN(gap)) return { box: gap, score: gap };
    if (gap > most[kind]) most[kind] = gap;
  }
  return { box: most[0], score: most[1] };
}

/** The nearest of some boxes of the same class. */
function nearest(box, boxes) {
  let best = { box: Number.POSITIVE_INFINITY, score: Number.POSITIVE_INFINITY };
  for (const other of boxes) {
    if (other[5] !== box[5]) continue;
    const gap = Math.max(...[0, 1, 2, 3].map((k) => Math.abs(box[k] - other[k])));
    const score = Math.abs(box[4] - other[4]);
    if (gap < best.box || (gap === best.box && score < best.score)) best = { box: gap, score };
  }
  return best;
}

/** Each box that one has is searched in the other, and the other way round. */
function differenceOfFinished(one, other) {
  const rows = (output) =>
    Array.from({ length: output.length / 6 }, (_, k) => output.subarray(6 * k, 6 * k + 6));
  const most = { box: 0, score: 0 };
  for (const [from, to] of [
    [rows(one), rows(other)],
    [rows(other), rows(one)],
  ]) {
    for (const box of from) {
      if (box[4] < SEEN) continue;
      const gap = nearest(box, to);
      most.box = Math.max(gap.box, most.box);
      most.score = Math.max(gap.score, most.score);
    }
  }
  return most;
}

/**
 * How far two raw outputs are apart, over all cells, whether they show a thing or not.
 * @param {Float32Array} one
 * @param {Float32Array} other
 * @param {Layout} layout Of both.
 * @param {number} width Numbers of a box.
 * @returns {Difference} Infinite if the outputs differ in size, or a finished box has no partner.
 */
export function outputDifference(one, other, layout, width) {
  if (layout === "finished") return differenceOfFinished(one, other);
  if (one.length !== other.length) {
    return { box: Number.POSITIVE_INFINITY, score: Number.POSITIVE_INFINITY };
  }
  return differenceOfCells(one, other, width, layout === "rows");
}

/** @param {Float32Array} one @param {Float32Array} other @returns {number} Of two arrays. */
export function largestGap(one, other) {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let k = 0; k < one.length; k++) {
    const gap = Math.abs(one[k] - other[k]);
    if (Number.isNaN(gap)) return gap;
    if (gap > most) most = gap;
  }
  return most;
}

/** @param {Difference} difference @returns {string} Such as "0.0004 px, 0.00001 in score". */
export function inWords({ box, score, logit }) {
  const digits = (value) => (Number.isFinite(value) ? value.toPrecision(2) : String(value));
  const before = logit === undefined ? "" : `, ${digits(logit)} before its sigmoid`;
  return `${digits(box)} px, ${digits(score)} in score${before}`;
}
