/**
 * What Python computes, for the tests of the page's numbers.
 *
 * `tests/examples/yolo11n/page/test_numbers.py` writes the file and names it in PAGE_VECTORS; where
 * the tests are run by themselves (npm run check), those that need it are skipped.
 */
import { readFileSync } from "node:fs";

const file = process.env.PAGE_VECTORS;
export const vectors = file ? JSON.parse(readFileSync(file, "utf8")) : { letterbox: [], nms: [] };
export const skip = file ? false : "pytest gives the numbers of Python";

/** @param {string} base64 Of 32-bit floats. */
export function floatsOf(base64) {
  return new Float32Array(new Uint8Array(Buffer.from(base64, "base64")).buffer);
}
