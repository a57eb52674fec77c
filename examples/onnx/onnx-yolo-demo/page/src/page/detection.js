/**
 * One detection: a frame goes to the detector and comes back to the stage with its boxes.
 *
 * The bitmap that was inferred comes back with its detections
 * and is what the stage shows; a frame that nobody wants any more is dropped.
 *
 * @import {Frame} from "./stage.js"
 */
import { Follower, leastScores } from "../count/follower.js";
import { compare } from "./compare.js";
import { alone, detect, measureInference } from "./model.js";
import { compareProof } from "./proof.js";
import { currentSettings } from "./settings.js";
import { noteWarm, onStage, showDetections } from "./stage.js";
import { activity, demo, say, settle } from "./status.js";
import { summary } from "./text.js";

/** Of what the stage shows. */
export const follower = new Follower();
/** @type {Promise<any>|null} */
let waiting = null; // a run on the shown picture that has not begun

/**
 * Detect in a frame and show it; to be done alone.
 * @param {Frame} frame
 * @param {() => Promise<ImageBitmap>} makeBitmap
 * @param {() => boolean} isWanted Whether the frame still belongs on the stage.
 * @returns {Promise<any>} As `demo.last`.
 */
export async function process(frame, makeBitmap, isWanted) {
  const used = currentSettings();
  const { confidence } = used;
  const least = leastScores(frame, confidence);
  const result = await detect(await makeBitmap(), { ...used, confidence: least });
  const { names = [], modelName } = demo.info ?? {};
  const all = result.detections.map((one) => ({ ...one, name: names[one.classId] }));
  const found = all.filter(({ score, classId }) => score > confidence[classId]);
  const finishComparison = await compare({ ...frame, bitmap: result.bitmap }, used);
  if (!isWanted()) {
    result.bitmap.close();
    return demo.last;
  }
  const tracks = follower.take(frame, all, used, modelName);
  const detections = frame.live ? tracks.map(({ box }) => box) : found;
  const second = finishComparison(detections, result.times);
  const shown = { ...frame, bitmap: result.bitmap, second, tracks, found };
  showDetections(shown, detections, result.times, used);
  // A model that was replaced or ended meanwhile has no time to tell.
  if (result.cold && !frame.live) alone(measureInference).then(noteWarm, () => {});
  return demo.last;
}

/** Detect in the picture on the stage again, as soon as the detector is free. */
export async function rerun() {
  waiting ??= alone(() => {
    waiting = null;
    return detectAgain();
  });
  try {
    return await waiting;
  } catch (error) {
    // After a loss the shown picture is run again by `recover`.
    const { code } = /** @type {{code?: string}} */ (error);
    if (code === "device-lost" || code === "cancelled") return demo.last;
    throw error;
  }
}

async function detectAgain() {
  const picture = onStage();
  if (!picture || !demo.info || activity.running) return demo.last;
  const copy = () => createImageBitmap(picture.bitmap);
  const frame = { ...picture, again: true };
  const last = await process(frame, copy, () => picture === onStage());
  // Null: another picture came before the first one had its detections.
  if (last) say(`Found ${summary(last.detections)}. ${picture.title}.`);
  settle();
  await compareProof();
  return last;
}
