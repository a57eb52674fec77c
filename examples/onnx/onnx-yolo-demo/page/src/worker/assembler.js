/**
 * WebAssembly written in JavaScript: the few instructions that letterbox.js needs.
 *
 * An instruction is a list of bytes, after its operands' bytes, which are instructions, too:
 * `add(get(0), i32(4))`. Lists may hold lists. The numbers are from the
 * WebAssembly Core Specification, "Index of Instructions".
 *
 * @typedef {(number|Code)[]} Code
 */

const [NUMBER, VECTOR] = [0x7f, 0x7b]; // kinds of locals

/** A whole number in seven bits a byte (LEB128). @param {number} value Of 32 bits. */
function leb(value) {
  const bytes = [];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest & 127];
}

const op =
  (...bytes) =>
  (/** @type {Code[]} */ ...operands) => [...operands, ...bytes];
const simd = (number, ...more) => op(0xfd, ...leb(number), ...more);

export const get = (local) => [0x20, local];
export const set = (local, value) => [value, 0x21, local];
export const i32 = (value) => [0x41, leb(value)];
export const add = op(0x6a);
export const isBelow = op(0x49);
/** The number at an address plus an offset in bytes. */
export const load = (address, offset) => [address, 0x28, 0, offset];

/** Does instructions once, and again as long as `condition` holds. */
export const repeat = (condition, ...body) => [0x03, 0x40, body, condition, 0x0d, 0, 0x0b];

// Four numbers at once, the lanes of a vector.
export const splat = simd(17); // one number in all of them
export const add4 = simd(174);
export const multiply4 = simd(181);
export const shiftRight4 = simd(173);
/** The number at an address plus an offset in bytes, in all lanes. */
export const loadSplat = (address, offset) => [address, 0xfd, 9, 0, offset];
/** Four bytes, one a lane. */
export const loadBytes = (address) => [address, 0xfd, 92, 0, 0, simd(137)(), simd(169)()];
/** Store the lowest byte of each lane. */
export const storeBytes = (address, lanes) => {
  const lowest = [0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  return [address, lanes, lanes, 0xfd, 13, lowest, 0xfd, 90, 0, 0, 0];
};

/**
 * Compile one function.
 * @param {{parameters: number, numbers: number, vectors: number}} locals How many there are, in
 *   this order: parameters and others of 32 bits, and vectors.
 * @param {Code} body
 * @returns {WebAssembly.Module} It exports `run`, the function, and its `memory`.
 */
export function compile({ parameters, numbers, vectors }, body) {
  const part = (...content) => {
    const bytes = content.flat(Number.POSITIVE_INFINITY);
    return [leb(bytes.length), bytes];
  };
  const name = (/** @type {string} */ text) => part(...new TextEncoder().encode(text));
  const sections = [
    [1, part(1, 0x60, part(Array(parameters).fill(NUMBER)), 0)], // the function's type
    [3, part(1, 0)], // the one function has it
    [5, part(1, 0, 1)], // a memory of one page
    [7, part(2, name("run"), 0, 0, name("memory"), 2, 0)],
    [10, part(1, part(2, numbers, NUMBER, vectors, VECTOR, body, 0x0b))],
  ];
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const bytes = [...head, ...sections.flat(Number.POSITIVE_INFINITY)];
  return new WebAssembly.Module(Uint8Array.from(/** @type {number[]} */ (bytes)));
}
