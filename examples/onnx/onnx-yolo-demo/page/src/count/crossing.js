/**
 * When something crosses a line, and in which direction.
 *
 * Places are shares of the picture's width and height, from its upper left corner.
 */

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{a: Point, b: Point}} Line */

// How far a thing must be from the line: what trembles on it is not counted again and again.
const MARGIN = 0.01;

/** How far a point is from the line: positive to the right of one who goes from a to b. */
function sideOf({ a, b }, { x, y }) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  return (dx * (y - a.y) - dy * (x - a.x)) / (Math.hypot(dx, dy) || 1);
}

/** Whether the way between two points on different sides leads between the ends of the line. */
function passesBetween({ a, b }, from, to) {
  const way = { a: from, b: to };
  return sideOf(way, a) * sideOf(way, b) <= 0;
}

/**
 * Arrows and words for where those go who cross a line: to its right, and to its left.
 *
 * @param {Line} line
 */
export function directions({ a, b }) {
  const names = [
    ["→", "to the right"],
    ["↘", "down to the right"],
    ["↓", "down"],
    ["↙", "down to the left"],
    ["←", "to the left"],
    ["↖", "up to the left"],
    ["↑", "up"],
    ["↗", "up to the right"],
  ];
  const eighth = Math.round(Math.atan2(b.x - a.x, a.y - b.y) / (Math.PI / 4));
  const there = (eighth + 8) % 8;
  return [names[there], names[(there + 4) % 8]].map(([arrow, words]) => ({ arrow, words }));
}

/** Remembers on which side of a line things were. */
export class Gate {
  /** @type {WeakMap<object, Point>} */
  #last = new WeakMap();

  /** @param {Line} line */
  constructor(line) {
    this.line = line;
  }

  /**
   * Notes where a thing is now, and says whether it has crossed the line.
   *
   * @param {object} thing
   * @param {Point} point Where it is now.
   * @returns {number} 1 if it has crossed the line to its right, -1 to its left, else 0.
   */
  pass(thing, point) {
    const side = sideOf(this.line, point);
    if (Math.abs(side) < MARGIN) return 0;
    const before = this.#last.get(thing);
    this.#last.set(thing, point);
    if (!before || sideOf(this.line, before) * side > 0) return 0;
    return passesBetween(this.line, before, point) ? Math.sign(side) : 0;
  }
}
