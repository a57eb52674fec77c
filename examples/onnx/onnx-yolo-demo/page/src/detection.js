/**
 * One detection: a frame goes to the detector and comes back to the stage with its boxes.
 *
 * One frame is in flight at a time. The bitmap that was inferred comes back with its detections
 * and is what the stage shows; a frame that nobody wants any more is dropped.
 *
 * @import {Frame} from "./stage.js"
 */
import { detect, whenFree, whileDetecting } from "./model.js";
import { currentSettings } from "./settings.js";
import { onStage, showDetections } from "./stage.js";
import { activity, demo, say, settle } from "./status.js";
import { summary } from "./text.js";

/** @type {Promise<any>|null} */
let waitingRerun = null; // a run on the shown picture that has not begun

async function process(frame, makeBitmap, isWanted) {
  const used = currentSettings();
  const result = await detect(await makeBitmap(), used);
  if (!isWanted()) {
    result.bitmap.close();
    return demo.last;
  }
  const names = demo.info?.names ?? [];
  const detections = result.detections.map((found) => ({ ...found, name: names[found.classId] }));
  showDetections({ ...frame, bitmap: result.bitmap }, detections, result.times, used);
  return demo.last;
}

/**
 * Detect in a frame, which must be the only one. Errors of a lost GPU are left to `recover`.
 * @param {Frame} frame
 * @param {() => Promise<ImageBitmap>} makeBitmap
 * @param {() => boolean} isWanted Whether the frame still belongs on the stage.
 * @returns {Promise<any>} As `demo.last`.
 */
export function processAlone(frame, makeBitmap, isWanted) {
  return whileDetecting(process(frame, makeBitmap, isWanted));
}

/** Detect in the picture on the stage again, as soon as the detector is free. */
export function rerun() {
  waitingRerun ??= rerunWhenFree();
  return waitingRerun.catch(ignoreLoss);
}

async function rerunWhenFree() {
  await null; // so that the assignment comes first, and the reset below after it
  await whenFree();
  waitingRerun = null;
  const picture = onStage();
  if (!picture || !demo.info || activity.running) return demo.last;
  const copy = () => createImageBitmap(picture.bitmap);
  const last = await processAlone(picture, copy, () => picture === onStage());
  // Null: another picture came before the first one had its detections.
  if (last) say(`Found ${summary(last.detections)}. ${picture.title}.`);
  settle();
  return last;
}

// After a loss the shown picture is run again by `recover`.
function ignoreLoss(error) {
  if (error.code === "device-lost") return demo.last;
  throw error;
}
