/**
 * Which boxes of two lists belong together.
 *
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Box In pixels.
 */

/** @param {Box} a @param {Box} b @returns {number} Intersection over union, from 0 to 1. */
export function overlapOf(a, b) {
  const width = Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1);
  const height = Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1);
  const shared = Math.max(width, 0) * Math.max(height, 0);
  const area = ({ x1, y1, x2, y2 }) => (x2 - x1) * (y2 - y1);
  return shared > 0 ? shared / (area(a) + area(b) - shared) : 0;
}

/**
 * Pair boxes of two lists, those that overlap most first; each is in one pair at most.
 * @template {Box & {name: string}} A
 * @template {Box & {name: string}} B
 * @param {A[]} first
 * @param {B[]} second
 * @param {number} least Overlap of a pair.
 * @returns {Map<A, B>} Pairs of the same class.
 */
export function pairBoxes(first, second, least) {
  const near = first.flatMap((a) =>
    second
      .filter((b) => b.name === a.name)
      .map((b) => ({ a, b, overlap: overlapOf(a, b) }))
      .filter(({ overlap }) => overlap >= least),
  );
  near.sort((one, other) => other.overlap - one.overlap);
  const pairs = new Map();
  const taken = new Set();
  for (const { a, b } of near) {
    if (pairs.has(a) || taken.has(b)) continue;
    pairs.set(a, b);
    taken.add(b);
  }
  return pairs;
}
