/**
 * Draws pictures and their boxes on a canvas.
 *
 * @import {Detection} from "../worker/nms.js"
 */
import { classColour, inkOn } from "./colours.js";
import { rootFontSize } from "./environment.js";
import { isolate, percent } from "./text.js";

// Canvases beyond this fail on some phones.
const MAX_SIDE = 4096;
const MAX_SCALE = 3;

/** @typedef {Detection & {name: string, number?: number}} NamedDetection `number`: see tracking.js. */

export class Drawing {
  #canvas;
  context;
  /** Canvas pixels per pixel of the picture. */
  scale = 1;

  /** @param {HTMLCanvasElement} canvas Its picture is fitted into the size that it is shown at. */
  constructor(canvas) {
    this.#canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /**
   * Show a picture, and boxes on it.
   * @param {ImageBitmap} bitmap
   * @param {NamedDetection[]} detections In pixels of the bitmap.
   * @param {boolean} mirrored Show the picture as a mirror does; the letters stay readable.
   */
  draw(bitmap, detections, mirrored) {
    this.#fit(bitmap);
    const { width, height } = this.#canvas;
    const context = this.context;
    context.setTransform(mirrored ? -1 : 1, 0, 0, 1, mirrored ? width : 0, 0);
    context.drawImage(bitmap, 0, 0, width, height);
    context.setTransform(1, 0, 0, 1, 0, 0);
    const { unit } = this;
    // Best last, so that no other box covers it.
    for (const detection of detections.toReversed()) this.#box(detection, mirrored, unit);
  }

  /**
   * Show other boxes instead, right of a divide.
   * @param {ImageBitmap} bitmap
   * @param {NamedDetection[]} detections
   * @param {boolean} mirrored
   * @param {number} divide A share of the width.
   */
  drawBeside(bitmap, detections, mirrored, divide) {
    const { context, unit } = this;
    const { width, height } = this.#canvas;
    const x = Math.round(divide * width);
    context.save();
    context.beginPath();
    context.rect(x, 0, width - x, height);
    context.clip();
    this.draw(bitmap, detections, mirrored);
    context.restore();
    for (const [thickness, colour] of /** @type {const} */ ([
      [4, "#101317"],
      [2, "#ffffff"],
    ])) {
      context.fillStyle = colour;
      context.fillRect(x - (thickness * unit) / 2, 0, thickness * unit, height);
    }
  }

  /** Small pictures get a larger canvas, or their letters would be blurred. */
  #fit(bitmap) {
    const shown = this.#canvas.clientWidth * devicePixelRatio;
    const larger = Math.min(Math.max(Math.round(shown / bitmap.width), 1), MAX_SCALE);
    const limit = MAX_SIDE / Math.max(bitmap.width, bitmap.height);
    this.scale = Math.min(larger, limit >= 1 ? Math.floor(limit) : limit);
    const width = Math.max(1, Math.round(bitmap.width * this.scale));
    const height = Math.max(1, Math.round(bitmap.height * this.scale));
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
  }

  /** Canvas pixels per pixel of the page at the usual size of letters, so that they grow with it. */
  get unit() {
    const { width, height } = this.#canvas;
    const { clientWidth, clientHeight } = this.#canvas;
    if (!clientWidth || !clientHeight) return 1;
    return (rootFontSize() / 16) * Math.max(width / clientWidth, height / clientHeight);
  }

  /** @param {NamedDetection} detection */
  #box(detection, mirrored, unit) {
    const { scale } = this;
    const left = mirrored ? this.#canvas.width - detection.x2 * scale : detection.x1 * scale;
    const top = detection.y1 * scale;
    const width = (detection.x2 - detection.x1) * scale;
    const height = (detection.y2 - detection.y1) * scale;
    const colour = classColour(detection.name, detection.classId);
    const context = this.context;
    context.lineJoin = "round";
    context.lineWidth = Math.max(2, 2.5 * unit);
    context.strokeStyle = colour;
    context.strokeRect(left, top, width, height);
    const number = detection.number ? `#${detection.number} ` : "";
    const text = `${isolate(detection.name)} ${number}${percent(detection.score)}`;
    this.#label(text, left, top, colour, unit);
  }

  #label(text, left, top, colour, unit) {
    const context = this.context;
    const size = Math.max(9, Math.round(13 * unit));
    const pad = size * 0.35;
    context.font = `600 ${size}px system-ui, -apple-system, "Segoe UI", sans-serif`;
    context.textBaseline = "middle";
    const width = context.measureText(text).width + 2 * pad;
    const height = size * 1.5;
    const edge = context.lineWidth / 2;
    const x = Math.max(0, Math.min(left - edge, this.#canvas.width - width));
    // Above the box; inside of it where the picture ends.
    const y = top - height >= 0 ? top - height : Math.max(0, top);
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
    context.fillStyle = inkOn(colour);
    context.fillText(text, x + pad, y + height / 2);
  }

  /** @returns {Promise<Blob>} What is shown as PNG, boxes included. */
  snapshot() {
    return new Promise((resolve, reject) => {
      this.#canvas.toBlob((blob) =>
        blob ? resolve(blob) : reject(new Error("the stage gives no PNG")),
      );
    });
  }
}
