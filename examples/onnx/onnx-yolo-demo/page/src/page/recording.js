/**
 * Recording the stage as a video file: what is seen, boxes included, frame by frame as they come.
 *
 * A recording lies in the page's memory until it is saved, so it has a limit. It ends by itself
 * there, at the end of a video, and when the stage gets another size, which no recorder can take.
 */
import { byId } from "./environment.js";
import { playOnce } from "./loop.js";
import { download, savedText } from "./saving.js";
import { addLayer, onStage, redraw } from "./stage.js";
import { say } from "./status.js";
import { clock, sentence, setText } from "./text.js";

// MP4 with H.264 plays everywhere, but not every browser writes it.
const TYPES = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp9", "video/webm;codecs=vp8"];
const MAX_MB = 500;
const PART_MS = 500;

const canvas = byId("stage", "canvas");
let endPresent = (/** @type {string} */ _why) => {}; // ends the recording that goes on
let recording = false;

/** @returns {string|undefined} The kind of file that this browser can write, if any. */
function recordedType() {
  const able = "MediaRecorder" in window && "captureStream" in canvas;
  return able ? TYPES.find((type) => MediaRecorder.isTypeSupported(type)) : undefined;
}

/** Begin a recording, or end it and save it. */
export function toggleRecording() {
  if (recording) endPresent("");
  else if (onStage() && recordedType()) begin();
}

function begin() {
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: recordedType() });
  const begun = performance.now();
  /** @type {Blob[]} */
  const parts = [];
  let megabytes = 0;
  let reason = "";
  endPresent = (why) => {
    reason ||= why;
    if (recorder.state === "recording") recorder.stop();
  };
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    megabytes += data.size / 1e6;
    showTime((performance.now() - begun) / 1000, megabytes);
    if (megabytes > MAX_MB) endPresent("more is not kept in memory");
  };
  recorder.onerror = () => endPresent("the browser's recorder failed");
  recorder.onstop = () => {
    showRecording(false);
    save(new Blob(parts, { type: recorder.mimeType }), reason);
  };
  recorder.start(PART_MS);
  showTime(0, 0);
  showRecording(true);
  redraw(); // a picture that rests is recorded, too
  say("Recording.");
}

function save(blob, reason) {
  const why = reason ? ` ${sentence(reason)}` : "";
  if (blob.size) download(blob, blob.type.startsWith("video/mp4") ? "mp4" : "webm");
  say(blob.size ? savedText(`Saved the recording.${why}`) : `Nothing was recorded.${why}`);
}

function showTime(seconds, megabytes) {
  setText(byId("record-badge"), `${clock(seconds)}, ${megabytes.toFixed(1)} of ${MAX_MB} MB`);
}

function showRecording(on) {
  recording = on;
  byId("record-badge").hidden = !on;
  setText(byId("record-text"), on ? "Save video" : "Record");
  playOnce("recording", on);
}

/** Offer recordings, if the browser can write any. */
export function wireRecording() {
  byId("record", "button").hidden = !recordedType();
  let size = "";
  addLayer({
    paint() {
      const now = `${canvas.width} × ${canvas.height}`;
      if (recording && now !== size) endPresent("the stage has another size");
      size = now;
    },
  });
  byId("feed").addEventListener("ended", () => recording && endPresent("the video has ended"));
}
