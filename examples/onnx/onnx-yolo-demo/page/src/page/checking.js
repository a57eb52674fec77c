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
 * @returns {Promise<{sample: Blob, reference?: Reference, more?: Uint8Array}>} See `Detector.load`;
 *   `more` belongs behind the model's bytes, and gives it the logits as an output.
 */
export async function checkedWith(asset) {
  const samples = hasAsset("samples") ? await assetJson("samples") : [];
  if (!asset || !hasAsset(`${asset}-reference`)) {
    return { sample: await (samples.length ? pictureOf(samples[0]) : gradient()) };
  }
  const { suffix, ...reference } = await assetJson(`${asset}-reference`);
  const names = [`${asset}-outputs`, `${asset}-logits`].filter(hasAsset);
  if (names.length) reference.outputs = await Promise.all(names.map(floats));
  const entry = samples.find((one) => one.asset === reference.sample);
  const more = Uint8Array.from(atob(suffix), (letter) => letter.charCodeAt(0));
  return { sample: await pictureOf(entry), reference, more };
}

async function floats(asset) {
  return new Float32Array((await assetBytes(asset)).buffer);
}

async function pictureOf({ asset, type }) {
  return new Blob([await assetBytes(asset)], { type });
}

/** @returns {Promise<Blob>} A picture for a page without samples: colours from corner to corner. */
function gradient() {
  const canvas = new OffscreenCanvas(256, 256);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const colours = context.createLinearGradient(0, 0, 256, 256);
  for (const [i, colour] of ["navy", "orange", "white", "green", "black"].entries()) {
    colours.addColorStop(i / 4, colour);
  }
  context.fillStyle = colours;
  context.fillRect(0, 0, 256, 256);
  return canvas.convertToBlob();
}

/** @param {Checked|null} checked Null hides the line. */
export function showChecked(checked) {
  byId("device-check").hidden = !checked;
  if (!checked) return;
  const { by, times } = checked;
  const { box, score } = checked.difference;
  const often = times > 1 ? `, ${times} times` : "";
  const text = `Checked on this device${often}: largest difference ${inWords({ box, score })}`;
  setText(byId("device-check"), `${text}, from ${by}.`);
}
