/**
 * How a detector's output is laid out, which its shape and the number of its class names tell.
 *
 * | layout | shape | |
 * | --- | --- | --- |
 * | "rows" | (1, 4 + classes, boxes) | centre x, centre y, width, height, scores: a row each |
 * | "columns" | (1, boxes, 4 + classes) | the same, transposed |
 * | "finished" | (1, boxes, 6) | x1, y1, x2, y2, score, class: nothing is left to suppress |
 *
 * All in pixels of the input's square.
 */
import { failure } from "./failure.js";

/** @typedef {"rows"|"columns"|"finished"} Layout */

const STRIDES = [8, 16, 32]; // pixels of the square per cell of YOLO's grids

/** Whether there is one box for every cell of the grids, as before suppression. */
function isEveryCell(boxes, side) {
  return boxes === STRIDES.reduce((sum, stride) => sum + Math.floor(side / stride) ** 2, 0);
}

/** @returns {Layout|null} */
function layoutWithNames(first, last, side, classes) {
  if (first === 4 + classes) return "rows";
  // Six columns are two classes' as well.
  if (last === 6 && !(classes === 2 && isEveryCell(first, side))) return "finished";
  return last === 4 + classes ? "columns" : null;
}

/** Only the proportions tell: there are more boxes than classes. @returns {Layout|null} */
function layoutWithoutNames(first, last, side) {
  if (last === 6 && first > 6 && !isEveryCell(first, side)) {
    throw failure(
      "model-shape",
      `the model's output (1, ${first}, 6) gives the classes of finished boxes by numbers, and the ` +
        `file does not name them; needed: metadata "names" such as {0: 'person', 1: 'cell phone'}`,
    );
  }
  if (first > 4 && first <= last) return "rows";
  return last > 4 && last < first ? "columns" : null;
}

/**
 * Tell how an output is laid out.
 * @param {readonly number[]} dims Its shape.
 * @param {string[]|null} names Of the classes, which decide where shapes are alike; null if the
 *   file gives none.
 * @param {number} side Of the input in pixels.
 * @returns {{layout: Layout, boxes: number, names: string[]}} Names that are missing are made up.
 * @throws {Error} `.code` "model-shape".
 */
export function readShape(dims, names, side) {
  const [batch, first, last] = dims;
  const find = names ? layoutWithNames : layoutWithoutNames;
  const isOneTable = dims.length === 3 && batch === 1 && first > 0 && last > 0;
  const layout = isOneTable ? find(first, last, side, names?.length ?? 0) : null;
  if (!layout) {
    const rows = names ? 4 + names.length : "4 + classes";
    throw failure(
      "model-shape",
      `the model's output has the shape (${dims.join(", ")}); needed: (1, ${rows}, boxes) or ` +
        `(1, boxes, ${rows})${names ? ` for its ${names.length} classes` : ""}, or finished boxes ` +
        "(1, boxes, 6)",
    );
  }
  const [boxes, width] = layout === "rows" ? [last, first] : [first, last];
  const made = () => Array.from({ length: width - 4 }, (_, number) => `class ${number}`);
  return { layout, boxes, names: names ?? made() };
}
