/**
 * What WebGPU is checked with on this device, and the line that says how it did; the check itself is
 * worker/check.js.
 *
 * @import {Checked, Reference} from "../worker/check.js"
 */
import { inWords } from "../worker/agreement.js";
import { assetBytes, assetJson, hasAsset } from "./assets.js";
import { byId } from "./environment.js";
import { setText } from "./text.js";

/**
 * @param {string} [asset] Of a model that Python has run at the build; of others WebAssembly says
 *   what is right.
 * @returns {Promise<{sample: Blob, reference?: Reference}>} See `Detector.load`.
 */
export async function checkedWith(asset) {
  const samples = await assetJson("samples");
  if (!asset || !hasAsset(`${asset}-reference`)) return { sample: await pictureOf(samples[0]) };
  const reference = await assetJson(`${asset}-reference`);
  if (hasAsset(`${asset}-outputs`)) {
    const { buffer } = await assetBytes(`${asset}-outputs`);
    reference.outputs = new Float32Array(buffer);
  }
  const entry = samples.find((one) => one.asset === reference.sample);
  return { sample: await pictureOf(entry), reference };
}

async function pictureOf({ asset, type }) {
  return new Blob([await assetBytes(asset)], { type });
}

/** @param {Checked|null} checked Null hides the line. */
export function showChecked(checked) {
  byId("device-check").hidden = !checked;
  if (!checked) return;
  const { difference, by, times } = checked;
  const often = times > 1 ? `, ${times} times` : "";
  const text = `Checked on this device${often}: largest difference ${inWords(difference)}`;
  setText(byId("device-check"), `${text}, from ${by}.`);
}
