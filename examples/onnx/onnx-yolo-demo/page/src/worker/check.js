/**
 * The check of WebGPU on this device: raw outputs for one picture, which it computes again and again.
 *
 * Drivers of graphics processors compute some models wrongly, which boxes alone often do not show.
 *
 * @import {Difference} from "./agreement.js"
 * @import {Layout} from "./outputs.js"
 */
import { inWords, isClose, largestGap, outputDifference } from "./agreement.js";

export const EVERY = 500; // frames between two checks

/**
 * What the page knows of the checks.
 * @typedef {object} Checked
 * @property {Difference} difference The largest so far.
 * @property {Difference} limits
 * @property {string} by What computed the outputs that are right: "Python" or "WebAssembly".
 * @property {number} times How often it was checked.
 */

/**
 * What Python knows of a model.
 * @typedef {object} Reference
 * @property {string} sample Its asset.
 * @property {number} input CRC-32 of what the network gets of it.
 * @property {Difference} limits
 * @property {string|null} logits The name of what the scores are the sigmoid of.
 * @property {Float32Array[]} [outputs] The output, and the logits; missing where they are large.
 */

export class DeviceCheck {
  #frames = 0;
  #layout;
  #width;

  /**
   * @param {object} given
   * @param {Float32Array|Uint16Array} given.input What the network gets.
   * @param {Float32Array[]} given.wanted The output that is right, and the logits if they are known.
   * @param {string} given.by See `Checked`.
   * @param {Difference} given.limits
   * @param {Layout} given.layout Of the outputs.
   * @param {number} given.width Numbers of a box.
   */
  constructor({ input, wanted, by, limits, layout, width }) {
    this.input = input;
    this.wanted = wanted;
    this.#layout = layout;
    this.#width = width;
    /** @type {Checked} */
    this.checked = { difference: { box: 0, score: 0 }, limits, by, times: 0 };
  }

  /** Count a frame. @returns {boolean} Whether it is time to check again. */
  isDue() {
    this.#frames += 1;
    if (this.#frames < EVERY) return false;
    this.#frames = 0;
    return true;
  }

  /** @param {Float32Array[]} found @returns {Difference} */
  #difference([output, logits]) {
    const [wanted, wantedLogits] = this.wanted;
    const difference = outputDifference(output, wanted, this.#layout, this.#width);
    return wantedLogits ? { ...difference, logit: largestGap(logits, wantedLogits) } : difference;
  }

  /**
   * @param {Float32Array[]} found What WebGPU computes of `input`, as `wanted`.
   * @throws {Error} If it is further from what is right than the limits allow.
   */
  judge(found) {
    const { checked } = this;
    const { limits, by, difference: before, times } = checked;
    const now = this.#difference(found);
    if (!isClose(now, limits)) {
      throw new Error(
        `on a sample its results are not those of ${by}: they differ by ${inWords(now)}; ` +
          `rounding explains ${inWords(limits)}`,
      );
    }
    const larger = (kind) => Math.max(before[kind] ?? 0, now[kind]);
    const kinds = Object.keys(now).map((kind) => [kind, larger(kind)]);
    const difference = /** @type {Difference} */ (Object.fromEntries(kinds));
    this.checked = { ...checked, difference, times: times + 1 };
  }
}
