/**
 * Pictures to learn from: each time another part of a frame, turned a little, in other colours, with
 * some of the objects of other frames pasted on it, and with other frames around it.
 *
 * All chance comes from one generator, so that a lesson can be repeated.
 *
 * @import {Example} from "./teacher.js"
 */
import { createLetterbox } from "../worker/letterbox.js";
import { readDrawn } from "../worker/pixels.js";

const GREY = "rgb(114, 114, 114)"; // of what lies outside the frame, as around letterboxed pictures
const FRAME_SIDES = 4; // frames are kept with at most this multiple of the network's side

const NEARER = 1.6; // the part is at least the frame's side divided by this,
const FARTHER = 1.8; // and at most the side times this
const SHIFT = 0.25; // of its centre, as a fraction of the frame's side
const TURN = 0.3; // of the frame, in radians
const WIDER = 0.15; // logarithm of the most that it gets wider, and less high, or the other way
const VISIBLE = 0.35; // least part of a box that must be left of it
const MIN_SIDE = 2; // pixels of a box in the network's input
const MAX_PASTED = 2;
const PASTED_SIZE = 0.5; // logarithm of the largest change in size
const HUE = 0.1; // of a turn; the others are parts of 1
const SATURATION = 0.6;
const BRIGHTNESS = 0.4;

/** @typedef {{x1: number, y1: number, x2: number, y2: number, row: number}} Box `row` of its class */

/** A generator of numbers in [0, 1), "mulberry32". @param {number} seed */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function surface(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const options = { alpha: false, willReadFrequently: true };
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    canvas.getContext("2d", options)
  );
  context.fillStyle = GREY;
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  return { canvas, context };
}

/** A frame of no more pixels than needed, with its boxes. @param {Example} example */
function reduce({ bitmap, boxes }, rows, size) {
  const ratio = Math.min(1, (FRAME_SIDES * size) / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(Math.round(bitmap.width * ratio), 1);
  const height = Math.max(Math.round(bitmap.height * ratio), 1);
  const { canvas, context } = surface(width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  const scaled = boxes.map(({ x1, y1, x2, y2, label }) => ({
    x1: (x1 * width) / bitmap.width,
    y1: (y1 * height) / bitmap.height,
    x2: (x2 * width) / bitmap.width,
    y2: (y2 * height) / bitmap.height,
    row: rows.indexOf(label),
  }));
  return { canvas, width, height, boxes: scaled };
}

/** Turn the hue, and change saturation and brightness, of planes of red, green and blue. */
function recolour(planes, random) {
  const span = (reach) => (2 * random() - 1) * reach;
  const turn = 2 * Math.PI * span(HUE);
  const saturation = 1 + span(SATURATION);
  const brightness = 1 + span(BRIGHTNESS);
  // In the YIQ space a hue is an angle and a saturation a radius.
  const c = Math.cos(turn) * saturation;
  const s = Math.sin(turn) * saturation;
  const length = planes.length / 3;
  for (let at = 0; at < length; at++) {
    const [r, g, b] = [planes[at], planes[at + length], planes[at + 2 * length]];
    const y = 0.299 * r + 0.587 * g + 0.114 * b;
    const i = 0.596 * r - 0.274 * g - 0.322 * b;
    const q = 0.211 * r - 0.523 * g + 0.312 * b;
    const [i2, q2] = [c * i - s * q, s * i + c * q];
    const mixed = [
      y + 0.956 * i2 + 0.621 * q2,
      y - 0.272 * i2 - 0.647 * q2,
      y - 1.106 * i2 + 1.703 * q2,
    ];
    for (let plane = 0; plane < 3; plane++) {
      planes[at + plane * length] = Math.min(Math.max(mixed[plane] * brightness, 0), 1);
    }
  }
}

/** Columns and rows of what lies around a frame. */
const AROUND = [-1, 0, 1].flatMap((column) => [-1, 0, 1].map((row) => [column, row]));
AROUND.splice(4, 1);

const overlap = (a, b) => a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;

/**
 * @param {object} options
 * @param {Example[]} options.examples
 * @param {string[]} options.labels Of the classes, in the order of their rows.
 * @param {number} options.size Of the network's input.
 * @param {number} options.maxBoxes Of one picture.
 * @param {() => number} options.random
 * @returns {() => Promise<{input: Float32Array, boxes: number[][], rows: number[]}>} Draws the next
 *   picture: the network's input (3, size, size), and its boxes' centre x and y, width and height
 *   as fractions of the side.
 */
export function createAugmenter({ examples, labels, size, maxBoxes, random }) {
  const frames = examples.map((example) => reduce(example, labels, size));
  const objects = frames.flatMap((frame) => frame.boxes.map((box) => ({ frame, box })));
  const letterbox = createLetterbox(size);
  const span = (reach) => (2 * random() - 1) * reach;
  const pick = (list) => list[Math.floor(random() * list.length)];
  /** @type {typeof frames} */
  let waiting = [];

  function nextFrame() {
    if (!waiting.length) {
      waiting = [...frames];
      for (let k = waiting.length - 1; k > 0; k--) {
        const other = Math.floor(random() * (k + 1));
        [waiting[k], waiting[other]] = [waiting[other], waiting[k]];
      }
    }
    return /** @type {typeof frames[0]} */ (waiting.pop());
  }

  /** What is pasted where: it hides no box, and most of it lies inside of the frame. */
  function planPasted(frame) {
    const pasted = [];
    const count = objects.length ? Math.floor(random() * (MAX_PASTED + 1)) : 0;
    for (let k = 0; k < count; k++) {
      const source = pick(objects);
      const gain = Math.exp(span(PASTED_SIZE));
      const width = (source.box.x2 - source.box.x1) * gain;
      const height = (source.box.y2 - source.box.y1) * gain;
      const x1 = random() * (frame.width - width);
      const y1 = random() * (frame.height - height);
      const mirrored = random() < 0.5;
      const box = { x1, y1, x2: x1 + width, y2: y1 + height, row: source.box.row };
      const free = ![...frame.boxes, ...pasted.map((p) => p.box)].some((b) => overlap(b, box));
      if (x1 >= 0 && y1 >= 0 && free) pasted.push({ source, box, mirrored });
    }
    return pasted;
  }

  function paste(context, { source, box, mirrored }) {
    const { x1, y1, x2, y2 } = source.box;
    context.save();
    context.translate(mirrored ? box.x2 : box.x1, box.y1);
    if (mirrored) context.scale(-1, 1);
    const area = [0, 0, box.x2 - box.x1, box.y2 - box.y1];
    context.drawImage(source.frame.canvas, x1, y1, x2 - x1, y2 - y1, ...area);
    context.restore();
  }

  /** Other frames on all sides of one, as large as they fit. */
  function planAround({ width, height }) {
    return AROUND.map(([column, row]) => {
      const frame = pick(frames);
      const scale = Math.min(width / frame.width, height / frame.height);
      const x = column < 0 ? -scale * frame.width : column * width;
      const y = row < 0 ? -scale * frame.height : row * height;
      const boxes = frame.boxes.map(({ x1, y1, x2, y2, row: own }) => {
        return {
          x1: x + scale * x1,
          y1: y + scale * y1,
          x2: x + scale * x2,
          y2: y + scale * y2,
          row: own,
        };
      });
      return { canvas: frame.canvas, x, y, scale, boxes };
    });
  }

  /**
   * Which part of a frame is drawn: `x` and `y` are its centre in the frame, `turn` is the matrix
   * (first column, second column) by which what lies around the centre is turned and stretched.
   */
  function planWindow({ width, height }) {
    const zoom = Math.exp(-Math.log(NEARER) + random() * Math.log(NEARER * FARTHER));
    const wider = Math.exp(span(WIDER));
    const angle = span(TURN);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return {
      x: width * (0.5 + span(SHIFT)),
      y: height * (0.5 + span(SHIFT)),
      width: Math.max(Math.round(width * zoom), 8),
      height: Math.max(Math.round(height * zoom), 8),
      turn: [cos * wider, sin * wider, -sin / wider, cos / wider],
      mirrored: random() < 0.5,
    };
  }

  function open(window) {
    const { context } = surface(window.width, window.height);
    context.translate(window.width / 2, window.height / 2);
    if (window.mirrored) context.scale(-1, 1);
    const [a, b, c, d] = window.turn;
    context.transform(a, b, c, d, 0, 0);
    context.translate(-window.x, -window.y);
    return context;
  }

  /** A box of the frame in the network's input; null if too little is left. */
  function move(box, window, geometry) {
    const [a, b, c, d] = window.turn;
    const [x, y] = [(box.x1 + box.x2) / 2 - window.x, (box.y1 + box.y2) / 2 - window.y];
    // The box around the turned ellipse: that around the turned box is too large for most things.
    const [halfWidth, halfHeight] = [(box.x2 - box.x1) / 2, (box.y2 - box.y1) / 2];
    const reach = [
      Math.hypot(a * halfWidth, c * halfHeight),
      Math.hypot(b * halfWidth, d * halfHeight),
    ];
    const centre = [(window.mirrored ? -1 : 1) * (a * x + c * y), b * x + d * y];
    const within = [window.width, window.height].map((side, axis) =>
      [-1, 1].map((sign) => {
        return Math.min(Math.max(side / 2 + centre[axis] + sign * reach[axis], 0), side);
      }),
    );
    const area = within.reduce((product, [start, end]) => product * (end - start), 1);
    if (area < VISIBLE * 4 * reach[0] * reach[1]) return null;
    const scaleX = geometry.resizedWidth / window.width;
    const scaleY = geometry.resizedHeight / window.height;
    const [left, right] = within[0].map((at) => at * scaleX + geometry.left);
    const [top, bottom] = within[1].map((at) => at * scaleY + geometry.top);
    if (Math.min(right - left, bottom - top) < MIN_SIDE) return null;
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top].map(
      (v) => v / size,
    );
  }

  return async () => {
    const frame = nextFrame();
    const pasted = planPasted(frame);
    const window = planWindow(frame);
    const around = planAround(frame);
    const context = open(window);
    for (const { canvas, x, y, scale } of around) {
      context.drawImage(canvas, x, y, scale * canvas.width, scale * canvas.height);
    }
    context.drawImage(frame.canvas, 0, 0);
    for (const one of pasted) paste(context, one);
    const data = await readDrawn(context);
    const input = new Float32Array(3 * size * size);
    const geometry = letterbox.run(data, window.width, window.height, input);
    recolour(input, random);
    /** @type {number[][]} */
    const boxes = [];
    /** @type {number[]} */
    const rows = [];
    const all = [
      frame.boxes,
      pasted.map((p) => p.box),
      ...around.map((other) => other.boxes),
    ].flat();
    for (const box of all) {
      const moved = move(box, window, geometry);
      if (!moved || boxes.length === maxBoxes) continue;
      boxes.push(moved);
      rows.push(box.row);
    }
    return { input, boxes, rows };
  };
}
