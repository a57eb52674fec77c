/**
 * The pixels of pictures.
 *
 * They are read from a canvas. Some browsers change what pages read there, to protect against being
 * recognized: Firefox with resistFingerprinting, Brave and others. Then a VideoFrame gives them,
 * where there is one and it gives what was drawn.
 */
import { failure } from "./failure.js";

/** How pixels are read; "changed": by a canvas, for want of a better way. */
/** @typedef {"canvas"|"frame"|"changed"} Reading */

const GREY = "rgb(114, 114, 114)"; // of the padding; transparent parts get it too
const KEPT_BYTES = 16e6; // a larger canvas is not kept
const TRIED = 32; // pixels: the side of a drawing that is read to see whether it comes back

const canvas = new OffscreenCanvas(1, 1);
const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
  canvas.getContext("2d", { alpha: false, willReadFrequently: true })
);

/** @param {OffscreenCanvasRenderingContext2D} drawn */
function readCanvas(drawn) {
  const { width, height } = drawn.canvas;
  return drawn.getImageData(0, 0, width, height, { colorSpace: "srgb" }).data;
}

/** @param {OffscreenCanvasRenderingContext2D} drawn */
async function readFrame(drawn) {
  const { width, height } = drawn.canvas;
  const frame = new VideoFrame(drawn.canvas, { timestamp: 0 });
  try {
    const options = /** @type {VideoFrameCopyToOptions} */ ({ format: "RGBA", colorSpace: "srgb" });
    const data = new Uint8ClampedArray(4 * width * height);
    const layout = [{ offset: 0, stride: 4 * width }];
    await frame.copyTo(data, { ...options, layout });
    return data;
  } finally {
    frame.close();
  }
}

const READERS = { canvas: readCanvas, frame: readFrame, changed: readCanvas };

/** @type {Reading} */
let reading = "canvas";

/**
 * @param {OffscreenCanvasRenderingContext2D} drawn
 * @returns {Promise<Uint8ClampedArray>} The RGBA pixels of its canvas.
 */
export async function readDrawn(drawn) {
  return READERS[reading](drawn);
}

/** @param {ImageBitmap} bitmap @returns {Promise<Uint8ClampedArray>} Its RGBA pixels. */
export async function readPixels(bitmap) {
  const { width, height } = bitmap;
  try {
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.fillStyle = GREY;
    context.fillRect(0, 0, width, height);
    context.drawImage(bitmap, 0, 0);
    const data = await readDrawn(context);
    if (data.length > KEPT_BYTES) canvas.width = canvas.height = 1;
    return data;
  } catch (error) {
    const reason = String(/** @type {any} */ (error)?.message ?? error);
    throw failure(
      "runtime",
      `the pixels of a picture of ${width}x${height} cannot be read (${reason}); ` +
        "try a smaller picture",
    );
  }
}

const colourOf = (x, y) => [(16 * x + 3 * y) & 255, (48 * x + 7 * y) & 255, (80 * x + 11) & 255];

/** Whether what is drawn is read as it was, to the bit: small changes move boxes, too. */
function isAsDrawn(pixels) {
  return pixels.every((value, k) => {
    const wanted = colourOf((k >> 2) % TRIED, Math.floor(k / (4 * TRIED)));
    return (k & 3) === 3 || value === wanted[k & 3];
  });
}

/**
 * Find a way of reading that gives the colours that were filled in, and read so from now on.
 * @returns {Promise<{reading: Reading, canvasIsExact: boolean}>}
 */
export async function chooseReading() {
  const drawing = new OffscreenCanvas(TRIED, TRIED);
  const drawn = /** @type {OffscreenCanvasRenderingContext2D} */ (drawing.getContext("2d"));
  for (let k = 0; k < TRIED * TRIED; k++) {
    const [x, y] = [k % TRIED, Math.floor(k / TRIED)];
    drawn.fillStyle = `rgb(${colourOf(x, y)})`;
    drawn.fillRect(x, y, 1, 1);
  }
  const bitmap = drawing.transferToImageBitmap();
  const isExact = async (way) => {
    reading = way;
    return isAsDrawn(await readPixels(bitmap));
  };
  const canvasIsExact = await isExact("canvas");
  const frameIsExact =
    !canvasIsExact && "VideoFrame" in self && (await isExact("frame").catch(() => false));
  bitmap.close();
  reading = canvasIsExact ? "canvas" : frameIsExact ? "frame" : "changed";
  return { reading, canvasIsExact };
}
