/**
 * From the network's output to detections: the same numbers as utils.py, in 32-bit floats.
 *
 * @import {Geometry} from "./letterbox.js"
 * @import {Layout} from "./outputs.js"
 */
import { failure } from "./failure.js";

/**
 * Corners in pixels of the picture, clipped to it.
 * @typedef {{x1: number, y1: number, x2: number, y2: number, score: number, classId: number}}
 *   Detection
 */

// Boxes of different classes are moved this many pixels apart, so that one pass of
// suppression handles every class. It has to exceed the side of any network input.
const CLASS_SHIFT = 7680;
const MAX_CANDIDATES = 30000;
const MAX_DETECTIONS = 1000;
const float32 = Math.fround;

function requireFinite(output) {
  for (let i = 0; i < output.length; i++) {
    if (!Number.isFinite(output[i])) {
      throw failure(
        "model-refused",
        "its output contains NaN or infinity: its weights are damaged, or too large to compute " +
          "with; check them (np.isfinite) and export it again, or choose another back end",
      );
    }
  }
}

/** Every anchor's best class and its score; the lowest class among equals. */
function bestClasses(output, numClasses, anchors, scores, classes) {
  const start = 4 * anchors;
  for (let a = 0; a < anchors; a++) {
    scores[a] = output[start + a];
    classes[a] = 0;
  }
  for (let c = 1; c < numClasses; c++) {
    const row = (4 + c) * anchors;
    for (let a = 0; a < anchors; a++) {
      if (output[row + a] > scores[a]) {
        scores[a] = output[row + a];
        classes[a] = c;
      }
    }
  }
}

/** The same numbers with rows and columns exchanged. */
function transpose(output, rows, columns) {
  const turned = new Float32Array(output.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      turned[column * rows + row] = output[row * columns + column];
    }
  }
  return turned;
}

/** Columns with an objectness before the scores as rows without, the scores multiplied by it. */
function withoutObjectness(output, boxes, width) {
  const rows = new Float32Array(boxes * (width - 1));
  for (let a = 0; a < boxes; a++) {
    const start = a * width;
    for (let k = 0; k < 4; k++) rows[k * boxes + a] = output[start + k];
    for (let k = 5; k < width; k++) {
      rows[(k - 1) * boxes + a] = output[start + k] * output[start + 4];
    }
  }
  return rows;
}

/** Scores and classes of finished boxes. */
function readFinished(output, numClasses, anchors, scores, classes) {
  for (let a = 0; a < anchors; a++) {
    const number = output[6 * a + 5];
    scores[a] = output[6 * a + 4];
    classes[a] = number;
    // Places that no box fills may hold anything.
    if (scores[a] > 0 && !(classes[a] === number && number >= 0 && number < numClasses)) {
      throw failure(
        "model-refused",
        `its output (1, ${anchors}, 6) is read as x1, y1, x2, y2, score, class, and gives a class ` +
          `${number}; its file names ${numClasses}, from 0`,
      );
    }
  }
}

/** Corners of the listed finished boxes, in list order. */
function copyCorners(output, order, corners) {
  for (let i = 0; i < order.length; i++) {
    corners.set(output.subarray(6 * order[i], 6 * order[i] + 4), 4 * i);
  }
}

/** Corners of the box of every listed anchor, in list order: x1, y1, x2, y2. */
function fillCorners(output, anchors, order, corners) {
  for (let i = 0; i < order.length; i++) {
    const a = order[i];
    const halfWidth = output[2 * anchors + a] / 2;
    const halfHeight = output[3 * anchors + a] / 2;
    corners[4 * i] = output[a] - halfWidth;
    corners[4 * i + 1] = output[anchors + a] - halfHeight;
    corners[4 * i + 2] = output[a] + halfWidth;
    corners[4 * i + 3] = output[anchors + a] + halfHeight;
  }
}

/** The same boxes, one class next to the other, and their areas. */
function shiftByClass(order, classes, corners, shifted, areas) {
  for (let i = 0; i < order.length; i++) {
    const shift = classes[order[i]] * CLASS_SHIFT;
    for (let k = 4 * i; k < 4 * i + 4; k++) {
      shifted[k] = corners[k] + shift;
    }
    const width = float32(shifted[4 * i + 2] - shifted[4 * i]);
    const height = float32(shifted[4 * i + 3] - shifted[4 * i + 1]);
    areas[i] = width * height;
  }
}

/** Whether boxes i and j (offsets in fours) overlap by more than `limit`. */
function overlap(boxes, areas, i, j, limit) {
  const width = float32(
    Math.min(boxes[4 * i + 2], boxes[4 * j + 2]) - Math.max(boxes[4 * i], boxes[4 * j]),
  );
  const height = float32(
    Math.min(boxes[4 * i + 3], boxes[4 * j + 3]) - Math.max(boxes[4 * i + 1], boxes[4 * j + 1]),
  );
  const inter = float32(Math.max(width, 0) * Math.max(height, 0));
  const union = float32(float32(areas[i] + areas[j]) - inter);
  const iou = union > 0 ? float32(inter / union) : 0;
  return iou > limit;
}

/** Greedy suppression of sorted boxes; the number kept, their places in `kept`. */
function suppress(count, boxes, areas, limit, maxDetections, kept) {
  let found = 0;
  for (let i = 0; i < count && found < maxDetections; i++) {
    let alive = true;
    for (let k = 0; k < found && alive; k++) {
      alive = !overlap(boxes, areas, i, kept[k], limit);
    }
    if (alive) {
      kept[found++] = i;
    }
  }
  return found;
}

/** Numbers of a box. */
function usualWidth(layout, numClasses) {
  if (layout === "finished") return 6;
  return (layout === "objectness" ? 5 : 4) + numClasses;
}

/**
 * Post-processing for one network; it keeps its buffers between calls.
 * @param {number} numClasses
 * @param {number} anchors Boxes that the network gives per picture; of finished ones there may be
 *   another number each time.
 * @param {Layout} [layout] Of its output.
 * @param {number} [width] Numbers of a box; those behind the scores count for nothing.
 */
export function createPostprocess(numClasses, anchors, layout = "rows", width = 0) {
  const perBox = width || usualWidth(layout, numClasses);
  if (layout !== "finished") return createForBoxes(numClasses, anchors, layout, perBox);
  let [present, count] = [createForBoxes(numClasses, anchors, layout, perBox), anchors];
  /** @type {typeof present.run} */
  const run = (output, geometry, options) => {
    if (output.length % perBox === 0 && output.length !== count * perBox) {
      count = output.length / perBox;
      present = createForBoxes(numClasses, count, layout, perBox);
    }
    return present.run(output, geometry, options);
  };
  return { run };
}

/** The same for always as many boxes. */
function createForBoxes(numClasses, anchors, layout, perBox) {
  const scores = new Float32Array(anchors);
  const classes = new Int32Array(anchors);
  const candidates = new Int32Array(anchors);
  const corners = new Float32Array(4 * anchors);
  const shifted = new Float32Array(4 * anchors);
  const areas = new Float32Array(anchors);
  const kept = new Int32Array(anchors);
  const wanted = new Uint8Array(numClasses);
  const limits = new Float32Array(numClasses); // of scores

  function markWanted(enabled) {
    wanted.fill(enabled === null ? 1 : 0);
    for (const classId of enabled ?? []) {
      wanted[classId] = 1;
    }
  }

  /** Anchors with a score above their class's limit, best first; the lower anchor among equals. */
  function choose() {
    let count = 0;
    for (let a = 0; a < anchors; a++) {
      if (scores[a] > limits[classes[a]] && wanted[classes[a]] === 1) {
        candidates[count++] = a;
      }
    }
    const order = candidates.subarray(0, count);
    order.sort((a, b) => scores[b] - scores[a] || a - b);
    return order.subarray(0, MAX_CANDIDATES);
  }

  /** Fill the corners of the anchors that are chosen, and tell which those are. */
  function decode(output) {
    let rows = output;
    if (layout === "columns") rows = transpose(output, anchors, perBox);
    if (layout === "objectness") rows = withoutObjectness(output, anchors, perBox);
    bestClasses(rows, numClasses, anchors, scores, classes);
    const order = choose();
    fillCorners(rows, anchors, order, corners);
    return order;
  }

  /** The same for finished boxes. */
  function readBoxes(output) {
    readFinished(output, numClasses, anchors, scores, classes);
    const order = choose();
    copyCorners(output, order, corners);
    return order;
  }

  /** One detection in pixels of the picture. */
  function detection(place, anchor, geometry) {
    const { width, height, left, top } = geometry;
    const scaleX = geometry.resizedWidth / width;
    const scaleY = geometry.resizedHeight / height;
    const x = (value) => float32(Math.min(Math.max((value - left) / scaleX, 0), width));
    const y = (value) => float32(Math.min(Math.max((value - top) / scaleY, 0), height));
    return {
      x1: x(corners[4 * place]),
      y1: y(corners[4 * place + 1]),
      x2: x(corners[4 * place + 2]),
      y2: y(corners[4 * place + 3]),
      score: scores[anchor],
      classId: classes[anchor],
    };
  }

  /**
   * Detections of one picture.
   * @param {Float32Array} output Laid out as outputs.js says.
   * @param {Geometry} geometry Of the picture's letterbox.
   * @param {object} options
   * @param {number[]} options.confidence Of each class; scores must be strictly above it.
   * @param {number} options.iou A box goes when it overlaps a better one of its class by more,
   *   unless the network has finished that.
   * @param {number[]|null} [options.enabled] Class ids to report; null means all. An anchor
   *   whose best class is not among them gives nothing.
   * @param {number} [options.maxDetections] The number of the best that are kept.
   * @returns {Detection[]} By falling score.
   * @throws {Error} `.code` "runtime": the output is of another size; "model-refused": not finite.
   */
  function run(
    output,
    geometry,
    { confidence, iou, enabled = null, maxDetections = MAX_DETECTIONS },
  ) {
    if (output.length !== perBox * anchors) {
      throw failure(
        "runtime",
        `the model gave ${output.length} numbers; needed: ${perBox} x ${anchors}`,
      );
    }
    requireFinite(output);
    markWanted(enabled);
    limits.set(confidence);
    const order = layout === "finished" ? readBoxes(output) : decode(output);
    shiftByClass(order, classes, corners, shifted, areas);
    const most = layout === "finished" ? Number.POSITIVE_INFINITY : float32(iou);
    const limit = Math.min(maxDetections, order.length);
    const found = suppress(order.length, shifted, areas, most, limit, kept);
    const detections = [];
    for (let i = 0; i < found; i++) {
      detections.push(detection(kept[i], order[kept[i]], geometry));
    }
    return detections;
  }

  return { run };
}
