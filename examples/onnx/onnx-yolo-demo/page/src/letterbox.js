/**
 * Fit pictures into the network's square exactly as the training did.
 *
 * The arithmetic is that of Pillow's BILINEAR resize of 8-bit pictures: a triangle filter that
 * widens when it shrinks a picture, in 22-bit fixed point, along one axis and then along the
 * other, with whole grey levels in between, so that their order counts. A canvas resizes in other
 * ways, and a detector sees the difference.
 */

/**
 * Where a picture lies in the square: `left` and `top` are the padding before the resized picture;
 * the rest of the padding follows it. All in pixels.
 * @typedef {{size: number, width: number, height: number, resizedWidth: number,
 *   resizedHeight: number, left: number, top: number}} Geometry
 */

const FILL = 114; // grey of the padding
const PRECISION = 22; // bits after the point of the filter's weights
const ONE = 1 << PRECISION;
const HALF = 1 << (PRECISION - 1);

/** Round to the nearest integer, halves to the even one, as Python's round() does. */
function roundHalfEven(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest === 0.5) {
    return floor % 2 === 0 ? floor : floor + 1;
  }
  return rest < 0.5 ? floor : floor + 1;
}

/**
 * Geometry of a picture in the square.
 * @param {number} width Pixels of the picture.
 * @param {number} height Pixels of the picture.
 * @param {number} size Side of the square in pixels.
 * @returns {Geometry}
 */
export function fit(width, height, size) {
  if (!(Math.min(width, height, size) >= 1)) {
    throw new Error(`cannot letterbox ${width}x${height} to ${size}: sides must be positive`);
  }
  const ratio = Math.min(size / height, size / width);
  const resizedWidth = Math.max(roundHalfEven(width * ratio), 1);
  const resizedHeight = Math.max(roundHalfEven(height * ratio), 1);
  // The 0.1 puts the odd pixel of padding at the right and the bottom.
  const left = roundHalfEven((size - resizedWidth) / 2 - 0.1);
  const top = roundHalfEven((size - resizedHeight) / 2 - 0.1);
  return { size, width, height, resizedWidth, resizedHeight, left, top };
}

/** Weights in fixed point of the input pixels `first`… around `center`, summing to about 1. */
function weigh(center, scale, first, count, weights, offset) {
  /** @type {number[]} */
  const raw = [];
  let sum = 0;
  for (let i = 0; i < count; i++) {
    raw[i] = Math.max(1 - Math.abs((first + i - center + 0.5) * (1 / scale)), 0);
    sum += raw[i];
  }
  for (let i = 0; i < count; i++) {
    weights[offset + i] = Math.floor(0.5 + (raw[i] / sum) * ONE);
  }
}

/**
 * The triangle filter for one axis.
 *
 * Output pixel i is the sum of `counts[i]` input pixels from `firsts[i]` on, times the weights
 * from `i * taps` on.
 */
function filterTable(inputSize, outputSize) {
  const step = inputSize / outputSize;
  const scale = Math.max(step, 1);
  const taps = Math.ceil(scale) * 2 + 1;
  const firsts = new Int32Array(outputSize);
  const counts = new Int32Array(outputSize);
  const weights = new Int32Array(outputSize * taps);
  for (let i = 0; i < outputSize; i++) {
    const center = (i + 0.5) * step;
    firsts[i] = Math.max(Math.trunc(center - scale + 0.5), 0);
    counts[i] = Math.min(Math.trunc(center + scale + 0.5), inputSize) - firsts[i];
    weigh(center, scale, firsts[i], counts[i], weights, i * taps);
  }
  return { taps, firsts, counts, weights };
}

// A pixel is one integer: red, green, blue and alpha in its bytes, from the lowest on (the order of
// RGBA in memory, for browsers run on little-endian processors only).
// A sum stays below 255 * (ONE + taps / 2) + HALF: it fits in 32 bits, and after the shift it
// is at most 255, so nothing has to be clipped.

/** Resize the rows of pixels; `rows` becomes (height, width). */
function resizeRows(pixels, inputWidth, height, table, width, rows) {
  const { taps, firsts, counts, weights } = table;
  for (let y = 0; y < height; y++) {
    const line = y * inputWidth;
    const target = y * width;
    for (let x = 0; x < width; x++) {
      let source = line + firsts[x];
      const first = x * taps;
      const last = first + counts[x];
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      for (let k = first; k < last; k++) {
        const weight = weights[k];
        const pixel = pixels[source];
        red = (red + Math.imul(pixel & 255, weight)) | 0;
        green = (green + Math.imul((pixel >>> 8) & 255, weight)) | 0;
        blue = (blue + Math.imul((pixel >>> 16) & 255, weight)) | 0;
        source += 1;
      }
      rows[target + x] =
        (red >> PRECISION) | ((green >> PRECISION) << 8) | ((blue >> PRECISION) << 16);
    }
  }
}

/**
 * Resize the columns of such rows and write them as planes of fractions, from `start` of a plane on,
 * `right` and `below` being what lies between neighbours there.
 */
function resizeColumns(rows, width, table, height, fractions, out, { start, right, below }) {
  const { taps, firsts, counts, weights } = table;
  const plane = out.length / 3;
  for (let y = 0; y < height; y++) {
    const first = y * taps;
    const last = first + counts[y];
    let target = start + y * below;
    const column = firsts[y] * width;
    for (let x = 0; x < width; x++) {
      let source = column + x;
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      for (let k = first; k < last; k++) {
        const weight = weights[k];
        const pixel = rows[source];
        red = (red + Math.imul(pixel & 255, weight)) | 0;
        green = (green + Math.imul((pixel >>> 8) & 255, weight)) | 0;
        blue = (blue + Math.imul(pixel >>> 16, weight)) | 0;
        source += width;
      }
      out[target] = fractions[red >> PRECISION];
      out[target + plane] = fractions[green >> PRECISION];
      out[target + 2 * plane] = fractions[blue >> PRECISION];
      target += right;
    }
  }
}

/** Whether Pillow 13 resizes the columns first: where they lose over twice as many as the rows. */
function startsDownwards({ width, height, resizedWidth, resizedHeight }) {
  return height > resizedHeight && height - resizedHeight > 2 * (width - resizedWidth);
}

/** @returns {Uint32Array} Pixels with rows and columns exchanged. */
function transpose(pixels, width, height) {
  const turned = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) turned[x * height + y] = pixels[y * width + x];
  }
  return turned;
}

/**
 * A letterbox for one network; it keeps its tables while pictures have the same size.
 * @param {number} size Side of the network's square input in pixels.
 * @returns {{run: (rgba: Uint8ClampedArray, width: number, height: number, out: Float32Array) =>
 *   Geometry}}
 */
export function createLetterbox(size) {
  const fractions = Float32Array.from({ length: 256 }, (_, level) => level / 255);
  let geometry = fit(size, size, size);
  let across = filterTable(size, size);
  let down = across;
  let rows = new Uint32Array(0);

  function prepare(width, height) {
    geometry = fit(width, height, size);
    across = filterTable(width, geometry.resizedWidth);
    down = filterTable(height, geometry.resizedHeight);
  }

  function reserve(pixels) {
    if (rows.length < pixels) rows = new Uint32Array(pixels);
  }

  /**
   * Fit one picture into the square.
   * @param {Uint8ClampedArray} rgba Pixels, (height, width, 4); alpha is not looked at.
   * @param {number} width
   * @param {number} height
   * @param {Float32Array} out (3, size, size), red, green, blue in 0..1; overwritten.
   * @returns {Geometry}
   */
  function run(rgba, width, height, out) {
    if (rgba.length !== width * height * 4) {
      throw new Error(`${rgba.length} bytes are no RGBA picture of ${width}x${height}`);
    }
    if (out.length !== 3 * size * size) {
      throw new Error(`out has ${out.length} numbers; needed: 3 x ${size} x ${size}`);
    }
    if (geometry.width !== width || geometry.height !== height) prepare(width, height);
    const { resizedWidth, resizedHeight, left, top } = geometry;
    const start = top * size + left;
    out.fill(fractions[FILL]);
    const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
    if (startsDownwards(geometry)) {
      reserve(width * resizedHeight);
      resizeRows(transpose(pixels, width, height), height, width, down, resizedHeight, rows);
      const place = { start, right: size, below: 1 };
      resizeColumns(rows, resizedHeight, across, resizedWidth, fractions, out, place);
    } else {
      reserve(height * resizedWidth);
      resizeRows(pixels, width, height, across, resizedWidth, rows);
      const place = { start, right: 1, below: size };
      resizeColumns(rows, resizedWidth, down, resizedHeight, fractions, out, place);
    }
    return geometry;
  }

  return { run };
}
