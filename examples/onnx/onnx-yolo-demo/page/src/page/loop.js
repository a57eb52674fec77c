/**
 * The frame loop of the open source: the newest frame is detected in, again and again.
 *
 * Frames that come while the detector works are skipped but the last, so the stage never lags
 * behind. The source is owned here, because a closed source must have no loop.
 *
 * @import {CameraSource, ScreenSource} from "./sources.js"
 * @typedef {CameraSource|ScreenSource|VideoSource} LiveSource
 */
import { process } from "./detection.js";
import { byId } from "./environment.js";
import { alone } from "./model.js";
import { VideoSource } from "./sources.js";
import { restartRate } from "./stage.js";
import { activity, demo, say, settle, showFailure } from "./status.js";
import { clock, summary } from "./text.js";

/** @type {LiveSource|null} */
let source = null;
let freshFrame = false; // a newer frame than the last grabbed one is there
let pumping = false; // frames are being detected in
let restingSince = Number.NaN; // when all frames that had come were seen

/** @returns {LiveSource|null} What is open. */
export function openSource() {
  return source;
}

/** Take an open source, and close the one before. @param {LiveSource|null} next */
export function useSource(next) {
  halt();
  source?.close();
  source = next;
  activity.paused = false;
}

/** @type {Set<string>} */
const playingOnce = new Set();

/** Play videos to their end instead of in a loop. @param {string} who @param {boolean} wanted */
export function playOnce(who, wanted) {
  if (wanted) playingOnce.add(who);
  else playingOnce.delete(who);
  byId("feed", "video").loop = playingOnce.size === 0;
}

/** Detect in the source's frames until `halt`. */
export async function startLoop() {
  const present = source;
  if (!present) return;
  Object.assign(activity, { running: true, paused: false });
  freshFrame = false;
  restingSince = Number.NaN;
  restartRate();
  settle();
  say(`Running: ${present.title}`);
  const onFrame = () => {
    freshFrame = true;
    pump();
  };
  const onBroken = (error) => {
    if (present !== source) return;
    useSource(null);
    showFailure(error);
  };
  try {
    await present.start(onFrame, onBroken);
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

/** @param {LiveSource} present @param {number} [waited] Milliseconds for its frame. */
function processLive(present, waited = 0) {
  const { kind, title } = present;
  const mirrored = kind === "camera" && byId("mirror").checked;
  return alone(() =>
    process(
      { title, mirrored, live: kind, waited, mediaTime: present.frameTime },
      () => present.grab(),
      () => present === source && !present.isMuted,
    ),
  );
}

/** Detect in the newest frames until there is no newer one, unless that is going on already. */
async function pump() {
  if (pumping) return;
  pumping = true;
  let waited = performance.now() - restingSince || 0;
  while (source && freshFrame && activity.running && demo.ready) {
    freshFrame = false;
    const present = source;
    try {
      await processLive(present, waited);
      waited = 0;
    } catch (error) {
      const { code } = /** @type {{code?: string}} */ (error);
      if (present !== source || !activity.running) continue;
      if (code === "device-lost" || code === "cancelled") continue;
      halt();
      showFailure(error);
    }
  }
  pumping = false;
  restingSince = performance.now();
}

/** End the loop and detect in one frame more. @param {1|-1} [frames] -1: of a video, one back. */
export async function stepOnce(frames = 1) {
  const present = source;
  if (!present) return;
  halt();
  activity.paused = true;
  settle();
  await present.step(frames);
  if (present !== source || activity.running) return;
  const last = await processLive(present);
  if (last) say(`Found ${summary(last.detections)}. One frame of ${present.title}.`);
  settle();
}

/** @type {number|null} */
let soughtTime = null; // seconds; where the video is to go next
let seeking = false;

/**
 * Go to a time of the open video; where it rests, its frame is detected in. Of times that are asked
 * for while it seeks, the last one counts.
 * @param {number} seconds
 */
export async function seek(seconds) {
  soughtTime = seconds;
  if (seeking) return;
  seeking = true;
  try {
    while (soughtTime !== null && source instanceof VideoSource) {
      const present = source;
      const time = soughtTime;
      soughtTime = null;
      await present.seek(time);
      if (present !== source || activity.running || !demo.ready) continue;
      const last = await processLive(present);
      if (last) say(`Found ${summary(last.detections)}. ${present.title} at ${clock(time)}.`);
    }
  } finally {
    seeking = false;
    soughtTime = null;
  }
}
