/**
 * Fit pictures into the network's square exactly as the training did.
 *
 * The arithmetic is that of Pillow's BILINEAR resize of 8-bit pictures: a triangle filter that
 * widens when it shrinks a picture, in 22-bit fixed point, along one axis and then along the
 * other, with whole grey levels in between, so that their order counts. A canvas resizes in other
 * ways, and a detector sees the difference.
 *
 * The sums are done by a small WebAssembly program, in a third of JavaScript's time.
 */
import {
  add,
  add4,
  compile,
  get,
  i32,
  isBelow,
  load,
  loadBytes,
  loadSplat,
  multiply4,
  repeat,
  set,
  shiftRight4,
  splat,
  storeBytes,
} from "./assembler.js";

/**
 * Where a picture lies in the square: `left` and `top` are the padding before the resized picture;
 * the rest of the padding follows it. All in pixels.
 * @typedef {{size: number, width: number, height: number, resizedWidth: number,
 *   resizedHeight: number, left: number, top: number}} Geometry
 */

export const FILL = 114; // grey of the padding
const PRECISION = 22; // bits after the point of the filter's weights
const ONE = 1 << PRECISION;
const PAGE_BYTES = 65536;
const KEPT_BYTES = 32e6; // more memory is given back
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
 * The triangle filter for one axis, as `resizer` reads it.
 *
 * Output pixel i is the sum of some input pixels times weights. In row i: where the first one lies,
 * in bytes; four times their number; the weights.
 * @param {number} inputSize
 * @param {number} outputSize
 * @param {number} step Bytes from an input pixel to the next one.
 */
function filterTable(inputSize, outputSize, step) {
  const ratio = inputSize / outputSize;
  const scale = Math.max(ratio, 1);
  const columns = Math.ceil(scale) * 2 + 3;
  const numbers = new Int32Array(outputSize * columns);
  for (let i = 0; i < outputSize; i++) {
    const center = (i + 0.5) * ratio;
    const first = Math.max(Math.trunc(center - scale + 0.5), 0);
    const count = Math.min(Math.trunc(center + scale + 0.5), inputSize) - first;
    numbers[i * columns] = first * step;
    numbers[i * columns + 1] = 4 * count;
    weigh(center, scale, first, count, numbers, i * columns + 2);
  }
  return { numbers, rowBytes: 4 * columns, step };
}

/**
 * Compile the program that resizes a picture along one axis, four bytes a pixel.
 *
 * Its parameters: where in its memory the picture is, the result and the axis' table; the result's
 * height and width; how many bytes lie between rows, and between columns, of the picture and of
 * the table, 0 along the axis whose places the table tells and along the one that it isn't for; the
 * table's step.
 *
 * A sum stays below 255 * (ONE + its terms / 2) + HALF: it fits in 32 bits, and after the shift it
 * is at most 255, so nothing has to be clipped.
 */
function resizer() {
  const [source, target, table, height, width] = [0, 1, 2, 3, 4];
  const [sourceBelow, sourceRight, tableBelow, tableRight, step] = [5, 6, 7, 8, 9];
  const [corner, row, left, tap, weight, end, sum] = [10, 11, 12, 13, 14, 15, 16];
  const increase = (local, by) => set(local, add(get(local), by));
  const countDown = (local) => [increase(local, i32(-1)), get(local)];
  return compile({ parameters: 10, numbers: 6, vectors: 1 }, [
    repeat(
      countDown(height),
      set(corner, get(source)),
      set(row, get(table)),
      set(left, get(width)),
      repeat(
        countDown(left),
        set(tap, add(get(corner), load(get(row), 0))),
        set(weight, get(row)),
        set(end, add(get(row), load(get(row), 4))),
        set(sum, splat(i32(HALF))),
        repeat(
          isBelow(get(weight), get(end)),
          set(sum, add4(get(sum), multiply4(loadBytes(get(tap)), loadSplat(get(weight), 8)))),
          increase(tap, get(step)),
          increase(weight, i32(4)),
        ),
        storeBytes(get(target), shiftRight4(get(sum), i32(PRECISION))),
        increase(target, i32(4)),
        increase(corner, get(sourceRight)),
        increase(row, get(tableRight)),
      ),
      increase(source, get(sourceBelow)),
      increase(table, get(tableBelow)),
    ),
  ]);
}

const program = resizer();

/** Start the program with a memory of its own. */
function start() {
  const { run, memory } = new WebAssembly.Instance(program).exports;
  return { run: /** @type {Function} */ (run), memory: /** @type {WebAssembly.Memory} */ (memory) };
}

/** Whether Pillow 13 resizes the columns first: where they lose over twice as many as the rows. */
function startsDownwards({ width, height, resizedWidth, resizedHeight }) {
  return height > resizedHeight && height - resizedHeight > 2 * (width - resizedWidth);
}

/**
 * A letterbox for one network; it keeps its tables while pictures have the same size.
 * @param {number} size Side of the network's square input in pixels.
 * @param {(fraction: number) => number} [written] What is written for 0 to 1; the number itself.
 * @returns {{run: (rgba: Uint8ClampedArray, width: number, height: number,
 *   out: Float32Array|Uint16Array) => Geometry}}
 */
export function createLetterbox(size, written = (fraction) => fraction) {
  const fractions = Float32Array.from({ length: 256 }, (_, level) => level / 255).map(written);
  let running = start();
  let geometry = fit(size, size, size);
  let resize = () => {};

  /** Lay out the memory: the picture, where the result will be, the half-way picture, the tables. */
  function prepare(width, height) {
    const wanted = fit(width, height, size);
    const { resizedWidth, resizedHeight } = wanted;
    const downFirst = startsDownwards(wanted);
    const halfWay = 4 * Math.max(width * height, resizedWidth * resizedHeight);
    const halfWayBytes = 4 * (downFirst ? width * resizedHeight : resizedWidth * height);
    const across = filterTable(width, resizedWidth, 4);
    const down = filterTable(height, resizedHeight, 4 * (downFirst ? width : resizedWidth));
    const acrossAt = halfWay + halfWayBytes;
    const downAt = acrossAt + across.numbers.byteLength;
    const { run, memory } = running;
    const missing = downAt + down.numbers.byteLength - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    new Int32Array(memory.buffer, acrossAt).set(across.numbers);
    new Int32Array(memory.buffer, downAt).set(down.numbers);
    const goAcross = (from, to, rows) =>
      run(from, to, acrossAt, rows, resizedWidth, 4 * width, 0, 0, across.rowBytes, across.step);
    const goDown = (from, to, columns) =>
      run(from, to, downAt, resizedHeight, columns, 0, 4, down.rowBytes, 0, down.step);
    resize = () => {
      if (downFirst) {
        goDown(0, halfWay, width);
        goAcross(halfWay, 0, resizedHeight);
      } else {
        goAcross(0, halfWay, height);
        goDown(halfWay, 0, resizedWidth);
      }
    };
    geometry = wanted; // not before there is memory for it
  }

  /** Write the resized pixels as planes of fractions. */
  function spread({ resizedWidth, resizedHeight, left, top }, out) {
    const pixels = new Uint32Array(running.memory.buffer, 0, resizedWidth * resizedHeight);
    const plane = size * size;
    let source = 0;
    for (let y = 0; y < resizedHeight; y++) {
      let target = (top + y) * size + left;
      for (let x = 0; x < resizedWidth; x++) {
        const pixel = pixels[source++];
        out[target] = fractions[pixel & 255];
        out[target + plane] = fractions[(pixel >>> 8) & 255];
        out[target + 2 * plane] = fractions[(pixel >>> 16) & 255];
        target += 1;
      }
    }
  }

  /**
   * Fit one picture into the square.
   * @param {Uint8ClampedArray} rgba Pixels, (height, width, 4); alpha is not looked at.
   * @param {number} width
   * @param {number} height
   * @param {Float32Array|Uint16Array} out (3, size, size), red, green, blue; overwritten.
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
    new Uint8Array(running.memory.buffer).set(rgba);
    resize();
    out.fill(fractions[FILL]);
    const done = geometry;
    spread(done, out);
    if (running.memory.buffer.byteLength > KEPT_BYTES) {
      running = start();
      prepare(size, size);
    }
    return done;
  }

  prepare(size, size);
  return { run };
}
