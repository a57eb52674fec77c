/**
 * The times of the last frames: their medians, the frame rate, and a chart.
 *
 * @import {Times} from "./detector.js"
 */
import { rootFontSize } from "./environment.js";

const MEDIAN_FRAMES = 30;
const CHART_FRAMES = 120;
const LINE_MS = 33; // a camera's frame

/** Medians over the last frames, and frames per second of the whole loop. */
export class FrameTimes {
  /** @type {Times[]} */
  #times = [];
  /** @type {number[]} */
  #ends = []; // when frames were on the stage, without a pause between them
  /** @type {number[]} */
  #waits = [];

  /**
   * @param {Times} times
   * @param {number} end When the frame was on the stage, in ms.
   * @param {number} [waited] Milliseconds that the loop had nothing to do before the frame came.
   */
  push(times, end, waited = 0) {
    this.#times = [...this.#times, times].slice(-MEDIAN_FRAMES);
    this.#ends = [...this.#ends, end].slice(-MEDIAN_FRAMES);
    this.#waits = [...this.#waits, waited].slice(-MEDIAN_FRAMES);
  }

  /** Of one frame only, the runtime's first: what an inference takes later. */
  correctFirst(ms) {
    const [first] = this.#times;
    if (this.#times.length === 1)
      this.#times = [{ ...first, inference: Math.min(first.inference, ms) }];
  }

  clear() {
    this.#times = [];
    this.#ends = [];
    this.#waits = [];
  }

  /** @param {keyof Times} name @returns {number} Of the last frame; NaN without one. */
  last(name) {
    return this.#times.at(-1)?.[name] ?? Number.NaN;
  }

  /** @param {keyof Times} name @returns {number} Milliseconds; NaN without frames. */
  median(name) {
    return median(this.#times.map((times) => times[name]));
  }

  /** @returns {number} NaN before the second frame. */
  fps() {
    const { length } = this.#ends;
    return (1000 * (length - 1)) / (this.#ends[length - 1] - this.#ends[0]);
  }

  /**
   * What there are no more frames a second for.
   * @returns {{part: keyof Times|"source"|"rest", ms: number, of: number}|null} "source": most frames
   *   were waited for; else the part of the loop that takes longest, and its share of a frame's
   *   milliseconds. Null before the second frame.
   */
  limit() {
    const of = 1000 / this.fps();
    if (Number.isNaN(of)) return null;
    if (median(this.#waits) > 0) return { part: "source", ms: median(this.#waits), of };
    const between = this.#times.slice(1); // as many as there are intervals between their ends
    const mean = (part) => between.reduce((sum, times) => sum + times[part], 0) / between.length;
    /** @type {{part: keyof Times|"rest", ms: number, of: number}[]} */
    const parts = [];
    for (const part of /** @type {const} */ (["pre", "inference", "post"])) {
      parts.push({ part, ms: mean(part), of });
    }
    const rest = of - parts.reduce((sum, { ms }) => sum + ms, 0);
    parts.push({ part: "rest", ms: rest, of });
    return parts.reduce((one, other) => (other.ms > one.ms ? other : one));
  }
}

/** @param {number[]} values @returns {number} NaN without any. */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  return (sorted[(length - 1) >> 1] + sorted[length >> 1]) / 2;
}

/**
 * @param {number} largest Milliseconds of a frame.
 * @returns {number} The chart's full height in ms: 1, 2 or 5 times a power of ten, at least 50.
 */
export function topOf(largest) {
  let top = 50;
  for (let step = 0; top < largest; step += 1) top *= step % 3 === 2 ? 2.5 : 2;
  return top;
}

/** Milliseconds of the last frames, stacked, with a line at 33 ms. */
export class TimeChart {
  #canvas;
  #context;
  /** @type {Times[]} */
  #times = [];
  /** @type {string[]} */
  #colours = []; // of pre, inference, post and the line

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    new ResizeObserver(() => this.draw()).observe(canvas);
    this.restyle();
  }

  /** Read the colours of the page's theme: of the legend, and of the canvas' text. */
  restyle() {
    const parts = [...document.querySelectorAll(".times .key")];
    this.#colours = parts.map((key) => getComputedStyle(key).backgroundColor);
    this.#colours.push(getComputedStyle(this.#canvas).color);
    this.draw();
  }

  clear() {
    this.#times = [];
    this.draw();
  }

  /** @param {Times} times */
  push(times) {
    this.#times = [...this.#times, times].slice(-CHART_FRAMES);
    this.draw();
  }

  draw() {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0) return;
    const [width, height] = [clientWidth, clientHeight].map((s) =>
      Math.round(s * devicePixelRatio),
    );
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.#context.clearRect(0, 0, clientWidth, clientHeight);
    const top = this.#top();
    this.#bars(clientWidth, clientHeight, top);
    this.#line(clientWidth, clientHeight, top);
  }

  #top() {
    return topOf(Math.max(0, ...this.#times.map((t) => t.pre + t.inference + t.post)));
  }

  #bars(width, height, top) {
    const slot = width / CHART_FRAMES;
    this.#times.forEach(({ pre, inference, post }, index) => {
      const x = width - (this.#times.length - index) * slot;
      let y = height;
      [pre, inference, post].forEach((time, part) => {
        const size = (time / top) * height;
        y -= size;
        this.#context.fillStyle = this.#colours[part];
        this.#context.fillRect(x, y, Math.max(1, slot - 0.5), size);
      });
    });
  }

  #line(width, height, top) {
    const context = this.#context;
    const y = Math.round(height * (1 - LINE_MS / top)) + 0.5;
    context.strokeStyle = this.#colours[3];
    context.fillStyle = this.#colours[3];
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
    context.font = `${0.6875 * rootFontSize()}px system-ui, sans-serif`;
    context.textBaseline = "bottom";
    context.fillText(`${LINE_MS} ms`, 2, y - 1);
    context.textBaseline = "top";
    if (top > 2 * LINE_MS) context.fillText(`${top} ms`, 2, 1);
  }
}
