/**
 * The frame loop of the open camera or video: the newest frame is detected in, again and again.
 *
 * Frames that come while the detector works are skipped but the last, so the stage never lags
 * behind. The source is owned here, because a closed source must have no loop.
 *
 * @import {CameraSource, VideoSource} from "./sources.js"
 */
import { processAlone } from "./detection.js";
import { byId } from "./environment.js";
import { model, whenFree } from "./model.js";
import { restartRate } from "./stage.js";
import { activity, demo, say, settle, showFailure } from "./status.js";
import { summary } from "./text.js";

/** @type {CameraSource|VideoSource|null} */
let source = null;
let freshFrame = false; // a newer frame than the last grabbed one is there

/** @returns {CameraSource|VideoSource|null} The open camera or video. */
export function openSource() {
  return source;
}

/** Take an open source, and close the one before. @param {CameraSource|VideoSource|null} next */
export function useSource(next) {
  halt();
  source?.close();
  source = next;
  activity.paused = false;
}

/** Detect in the source's frames until `halt`. */
export async function startLoop() {
  const present = source;
  if (!present) return;
  Object.assign(activity, { running: true, paused: false });
  freshFrame = false;
  restartRate();
  settle();
  say(`Running: ${present.title}`);
  try {
    await present.start(() => {
      freshFrame = true;
      pump();
    });
  } catch (error) {
    // It was paused or closed before it began to play.
    if (present !== source || /** @type {Error} */ (error).name === "AbortError") return;
    halt();
    throw error;
  }
}

/** End the loop; the source stays open. */
export function halt() {
  activity.running = false;
  freshFrame = false;
  source?.pause();
}

/** @param {CameraSource|VideoSource} present */
function processLive(present) {
  const { kind, title } = present;
  const mirrored = kind === "camera" && byId("mirror").checked;
  return processAlone(
    { title, mirrored, live: kind },
    () => present.grab(),
    () => present === source,
  );
}

/** Detect in the newest frame, unless the detector is busy or there is no newer one. */
async function pump() {
  if (!activity.running || !source || !freshFrame || model.inFlight || !demo.ready) return;
  freshFrame = false;
  const present = source;
  try {
    await processLive(present);
  } catch (error) {
    const { code } = /** @type {{code?: string}} */ (error);
    if (present !== source || !activity.running || code === "device-lost") return;
    halt();
    showFailure(error);
    return;
  }
  // It is reset a moment after the result; without the wait a newer frame would be left lying.
  await model.inFlight;
  pump();
}

/** End the loop and detect in one frame more. */
export async function stepOnce() {
  const present = source;
  if (!present) return;
  halt();
  activity.paused = true;
  settle();
  await present.step();
  await whenFree();
  if (present !== source || activity.running) return;
  const last = await processLive(present);
  if (last) say(`Found ${summary(last.detections)}. One frame of ${present.title}.`);
  settle();
}
