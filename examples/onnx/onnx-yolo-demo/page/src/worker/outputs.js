/**
 * How a detector's output is laid out, which its shape, the number of its class names and its
 * numbers tell.
 *
 * | layout | shape | |
 * | --- | --- | --- |
 * | "rows" | (1, 4 + classes, boxes) | centre x, centre y, width, height, scores: a row each |
 * | "columns" | (1, boxes, 4 + classes) | the same, transposed |
 * | "objectness" | (1, boxes, 5 + classes) | a score that there is a thing stands before the classes' |
 * | "finished" | (1, boxes, 6) or (boxes, 6) | x1, y1, x2, y2, score, class: nothing is left to suppress |
 *
 * All in pixels of the input's square. Behind the scores there may be the numbers of masks. YOLOv5 and v7 have three boxes for every cell of their grids, and an objectness; later
 * ones have one box, and none. Of finished boxes there may be another number for every picture.
 */
import { failure } from "./failure.js";

/** @typedef {"rows"|"columns"|"objectness"|"finished"} Layout */
/**
 * @typedef {object} Shape
 * @property {Layout} layout
 * @property {number} boxes
 * @property {number} width Numbers of a box.
 * @property {string[]} names Of the classes.
 */

const STRIDES = [8, 16, 32]; // pixels of the square per cell of YOLO's grids
const ANCHORS = 3; // boxes of a cell, where there is an objectness
const COCO = 80; // classes that most detectors have

/** How many boxes there are for every cell of the grids, as before suppression; 0: not as many. */
function boxesOfCell(boxes, side) {
  const cells = STRIDES.reduce((sum, stride) => sum + Math.floor(side / stride) ** 2, 0);
  return [1, ANCHORS].find((count) => boxes === count * cells) ?? 0;
}

/** @returns {Layout|null} */
function layoutWithNames(first, last, { side, classes, masks }) {
  const perCell = boxesOfCell(first, side);
  if (first === 4 + classes || first === 4 + classes + masks) return "rows";
  if (perCell && (last === 5 + classes || last === 5 + classes + masks)) return "objectness";
  // Six columns are two classes' as well.
  if (last === 6 && !(classes === 2 && perCell)) return "finished";
  return last === 4 + classes || last === 4 + classes + masks ? "columns" : null;
}

/** Only the proportions tell: there are more boxes than classes. @returns {Layout|null} */
function layoutWithoutNames(first, last, { side, masks }) {
  const perCell = boxesOfCell(first, side);
  if (last === 6 && !perCell && (first > 6 || first < 5)) {
    throw failure(
      "model-shape",
      `the model's output (1, ${first}, 6) gives the classes of finished boxes by numbers, and the ` +
        `file does not name them; needed: metadata "names" such as {0: 'person', 1: 'cell phone'}`,
    );
  }
  if (perCell === ANCHORS && last > 5 + masks) return "objectness";
  if (perCell && last === 5 + COCO + masks) {
    throw failure(
      "model-shape",
      `the model's output (1, ${first}, ${last}) has ${last - masks - 4} classes, or ${COCO} and an ` +
        `objectness, and the file does not name them; needed: metadata "names" such as {0: 'person'}`,
    );
  }
  if (first > 4 + masks && first <= last) return "rows";
  return last > 4 + masks && last < first ? "columns" : null;
}

/** How many classes a box has, by the number of its values. */
function countClasses(layout, width, masks) {
  return width - masks - (layout === "objectness" ? 5 : 4);
}

/**
 * Tell how an output is laid out.
 * @param {readonly number[]} dims Its shape.
 * @param {string[]|null} names Of the classes, which decide where shapes are the same; null if the
 *   file gives none.
 * @param {number} side Of the input in pixels.
 * @param {number} [masks] Numbers of a mask that stand behind the scores.
 * @returns {Shape} Names that are missing are made up.
 * @throws {Error} `.code` "model-shape".
 */
export function readShape(dims, names, side, masks = 0) {
  const [batch, first, last] = dims.length === 2 && dims[1] === 6 ? [1, ...dims] : dims;
  const find = names ? layoutWithNames : layoutWithoutNames;
  const isTable = batch === 1 && last > 0 && dims.length <= 3;
  const facts = { side, classes: names?.length ?? 0, masks };
  const layout = isTable && (first > 0 || last === 6) ? find(first, last, facts) : null;
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
  const count = countClasses(layout, width, masks);
  const made = () => Array.from({ length: count }, (_, number) => `class ${number}`);
  return { layout, boxes, width, names: names ?? made() };
}

/** Scores that rounding, in 16 bits too, moves out of 0 to 1 stay this close to it. */
const TOLERANCE = 0.01;

/**
 * Look at an output whose classes no file names: whether they are scores at all.
 * @param {Float32Array} output Of a picture.
 * @param {Shape} shape
 * @throws {Error} `.code` "model-shape".
 */
export function requireScores(output, { layout, boxes, width }) {
  if (layout === "finished") return;
  for (let k = 0; k < output.length; k++) {
    const place = layout === "rows" ? Math.floor(k / boxes) : k % width;
    if (place < 4 || (output[k] >= -TOLERANCE && output[k] <= 1 + TOLERANCE)) continue;
    throw failure(
      "model-shape",
      `the file names no classes, and what stands behind the boxes of its output is no score from 0 ` +
        `to 1 (${output[k].toFixed(3)}): it may hold masks or points, too; needed: metadata "names" ` +
        "such as {0: 'person', 1: 'cell phone'}",
    );
  }
}
