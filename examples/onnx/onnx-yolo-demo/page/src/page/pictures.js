/**
 * Still pictures: those that the user or a script gives, and the samples that travel in the page.
 *
 * A picture is on the stage at once; its boxes follow when the detector has seen it.
 */
import { assetBytes, assetJson, hasAsset } from "./assets.js";
import { rerun } from "./detection.js";
import { byId } from "./environment.js";
import { beginOpening } from "./live.js";
import { useSource } from "./loop.js";
import { decodePicture } from "./sources.js";
import { onStage, putOnStage } from "./stage.js";
import { attempt, demo, hideScreen, say, settle } from "./status.js";

/** @type {Promise<unknown>} */
let images = Promise.resolve(); // pictures of scripts, one after another
/** @type {{title: string, blob: Blob}[]} */
let samples = [];

/** Put a picture on the stage, at once without boxes, and detect in it. */
export async function showPicture(picture, title) {
  const isWanted = beginOpening();
  const { bitmap, note } = await decodePicture(picture);
  if (!isWanted()) {
    bitmap.close();
    return demo.last;
  }
  useSource(null);
  if (demo.info) hideScreen();
  const file = picture instanceof Blob ? picture : undefined;
  putOnStage(bitmap, note ? `${title}, ${note}` : title, file);
  settle();
  if (demo.info) say(`Detecting in ${title}…`);
  return rerun();
}

/**
 * Detect in a picture and show it.
 * @param {Blob|ImageBitmap|string} picture A file, decoded pixels, or a data: address.
 * @returns {Promise<object>} As `demo.last`.
 */
export function detectImage(picture) {
  const result = images.then(async () => {
    const given = typeof picture === "string" ? await (await fetch(picture)).blob() : picture;
    return showPicture(given, "Picture");
  });
  images = result.catch(() => {});
  return result;
}

// ------------------------------------------------------------------------ samples

/** Unpack the samples and make their buttons. */
export async function fillSamples() {
  const entries = hasAsset("samples") ? await assetJson("samples") : [];
  byId("samples").hidden = entries.length === 0;
  byId("samples-title").hidden = entries.length === 0;
  samples = await Promise.all(
    entries.map(async ({ asset, title, type }) => {
      return { title, blob: new Blob([await assetBytes(asset)], { type }) };
    }),
  );
  byId("samples").append(...samples.map(({ title, blob }, k) => sampleButton(title, blob, k + 1)));
}

function sampleButton(title, blob, number) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sample";
  button.dataset.sample = String(number);
  button.title = title;
  button.setAttribute("aria-pressed", "false");
  const image = new Image(96, 68);
  image.alt = `Sample: ${title}`;
  image.src = URL.createObjectURL(blob);
  button.append(image);
  button.addEventListener("click", () => attempt(() => showSample(number)));
  return button;
}

/** @param {number} number From 1; without such a sample nothing happens. */
export async function showSample(number) {
  const sample = samples[number - 1];
  if (!sample) return;
  const result = showPicture(sample.blob, `Sample: ${sample.title}`);
  byId("samples").children[number - 1].setAttribute("aria-pressed", "true");
  await result;
}

/** Show the first sample while the model loads; its boxes follow. */
export async function previewSample() {
  if (!onStage()) await showSample(1);
}
