/**
 * Numbers of 16 bits, as their patterns: not every browser has a Float16Array, and onnxruntime-web
 * takes patterns from all.
 */

const NORMAL = 2 ** -14; // the least number with a leading bit of its own
const LEAST = 2 ** -24;

/** @param {number} value @returns {number} The pattern of the nearest number, the even one of two. */
export function toHalf(value) {
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00; // NaN
  if (size >= 0x477ff000) return sign | 0x7c00; // 65,520, which is rounded to infinity
  if (Math.abs(value) < NORMAL) {
    const steps = Math.abs(value) / LEAST;
    const floor = Math.floor(steps);
    const rest = steps - floor;
    return sign | (floor + Number(rest > 0.5 || (rest === 0.5 && floor % 2 === 1)));
  }
  return sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
}

/** @param {number} bits A pattern. @returns {number} */
export function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * LEAST;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * An output's numbers in 32 bits.
 * @param {string} type Of the tensor.
 * @param {any} data Of a "float16": a Uint16Array of patterns, or a Float16Array.
 * @returns {Float32Array}
 */
export function asFloats(type, data) {
  if (type !== "float16") return data;
  return data instanceof Uint16Array ? Float32Array.from(data, fromHalf) : Float32Array.from(data);
}
