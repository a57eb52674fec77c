/**
 * Opening cameras, screens and videos, and what start, stop and step do with them.
 *
 * Opening takes time, in which the user may ask for something else. So whatever is opened draws a
 * ticket, pictures too, and only the last one is kept.
 */
import { rerun } from "./detection.js";
import { byId, memory } from "./environment.js";
import { endWork } from "./loading.js";
import { halt, openSource, startLoop, stepOnce, useSource } from "./loop.js";
import { CameraSource, listCameras, otherCamera, ScreenSource, VideoSource } from "./sources.js";
import { forgetDetections, onStage, showNumbers } from "./stage.js";
import { activity, attempt, demo, hideScreen, say, settle, showScreen } from "./status.js";

let opening = 0; // counts sources asked for
let openingCamera = 0; // the number of the camera that is being opened
let cameraId = ""; // of the camera opened last
/** @type {Map<string, boolean>} */
const mirrorChoices = new Map(); // by device; "" is a choice made before any was open

/** @returns {() => boolean} Whether nothing else was opened, and nothing stopped, since. */
export function beginOpening() {
  opening += 1;
  const ticket = opening;
  for (const button of document.querySelectorAll("#samples button, #strip button")) {
    button.setAttribute("aria-pressed", "false");
  }
  return () => ticket === opening;
}

/** Use a camera or screen, and say so when it sends nothing for a while. */
function useStream(source) {
  useSource(source);
  source.onMuted = () => {
    if (source.isMuted) {
      forgetDetections();
      showScreen(source.silent[0], { happened: source.mutedText });
    } else {
      hideScreen();
      say(`Running: ${source.title}`);
    }
  };
}

// ------------------------------------------------------------------------ camera

/** @returns {Promise<boolean>} Whether the camera is open, and still wanted. */
async function openCamera() {
  const isWanted = beginOpening();
  useSource(null);
  hideScreen();
  say("Opening the camera…");
  const wanted = byId("camera-select").value || memory.get("sessionStorage", "camera");
  openingCamera = opening;
  const ask = () => CameraSource.ask(byId("feed", "video"), wanted);
  const camera = await CameraSource.open(ask, isWanted);
  if (camera === null) return false;
  openingCamera = 0;
  useStream(camera);
  camera.onEnded = () => {
    useSource(null);
    const happened = "The camera was unplugged or taken by the system.";
    showScreen("no-camera", { happened });
  };
  memory.set("sessionStorage", "camera", camera.deviceId);
  cameraId = camera.deviceId;
  const choice = mirrorChoices.get(cameraId) ?? mirrorChoices.get("");
  byId("mirror").checked = choice ?? camera.mirroredByDefault;
  await fillCameras(camera.deviceId);
  return isWanted();
}

/** List the cameras. @param {string} deviceId The one to be chosen, if it is there. */
export async function fillCameras(deviceId) {
  const cameras = await listCameras();
  if (cameras.length === 0) return;
  const select = byId("camera-select", "select");
  select.replaceChildren(...cameras.map(({ deviceId: id, label }) => new Option(label, id)));
  if (cameras.some((camera) => camera.deviceId === deviceId)) select.value = deviceId;
}

/** How the page lists cameras. */
const listed = () =>
  [...byId("camera-select", "select").options].map(({ value, text }) => ({
    deviceId: value,
    label: text,
  }));

/** Whether there is another camera than the one that is open. */
export const canFlip = () => openSource()?.kind === "camera" && listed().length > 1;

/** From the camera that faces the user to one that doesn't, or back. */
export async function flipCamera() {
  const { deviceId } = otherCamera(listed(), cameraId);
  byId("camera-select", "select").value = deviceId;
  await changeCamera(deviceId);
}

export async function startCamera() {
  if (await openCamera()) await startLoop();
}

/** Open the camera that the user chose, if one is open. @param {string} deviceId */
export async function changeCamera(deviceId) {
  memory.set("sessionStorage", "camera", deviceId);
  if (openSource()?.kind === "camera") await startCamera();
}

/** Keep the user's choice for this camera, and show it. @param {boolean} mirrored */
export async function changeMirror(mirrored) {
  mirrorChoices.set(cameraId, mirrored);
  const shown = onStage();
  if (shown?.live !== "camera" || activity.running) return;
  shown.mirrored = mirrored;
  await rerun();
}

// ------------------------------------------------------------------------ screen

/** Have the user choose a screen or window, and detect in it. */
export async function startScreen() {
  const isWanted = beginOpening();
  useSource(null);
  hideScreen();
  say("Choose a screen or window…");
  const screen = await ScreenSource.open(() => ScreenSource.ask(byId("feed", "video")), isWanted);
  if (screen === null) return;
  useStream(screen);
  screen.onEnded = stop; // by the browser's own button
  await startLoop();
}

// ------------------------------------------------------------------------ video

/** Play a video file, in a loop. @param {File} file */
export async function startVideo(file) {
  const isWanted = beginOpening();
  useSource(null);
  hideScreen();
  const video = await VideoSource.open(byId("feed", "video"), file);
  if (!isWanted()) {
    video.close();
    return;
  }
  useSource(video);
  await startLoop();
}

// ------------------------------------------------------------------------ start, stop, step

/** What the start button does: play the open source, else open the camera. */
export async function start() {
  if (!demo.ready || activity.running) return;
  if (openSource()) {
    hideScreen();
    await startLoop();
  } else {
    await startCamera();
  }
}

/** What stopping gives back. */
const GIVEN_BACK = {
  camera: "Stopped; the camera is off.",
  screen: "Stopped; nothing is shared any more.",
};

/** Stop; a camera is given back, so that its light goes out. Then, end what takes long. */
export function stop() {
  const kind = openSource()?.kind;
  opening += 1;
  if (!activity.running && endWork()) return;
  if (!kind) return;
  if (kind in GIVEN_BACK) useSource(null);
  else halt();
  activity.paused = true;
  settle();
  say(GIVEN_BACK[kind] ?? "Stopped.");
  showNumbers();
}

/** A video that isn't played in a loop stops at its end. */
export function watchEnd() {
  byId("feed").addEventListener("ended", () => openSource()?.kind === "video" && stop());
}

/**
 * While nobody sees the page, the camera is off and a video rests. A screen stays shared: the user
 * has gone to what it shows.
 */
export function watchVisibility() {
  let goOn = () => Promise.resolve();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      attempt(goOn);
      goOn = () => Promise.resolve();
    } else if (openingCamera === opening || openSource()?.kind === "camera") {
      if (activity.running || openingCamera === opening) goOn = startCamera;
      opening += 1;
      useSource(null);
      activity.paused = true;
      settle();
      say("The camera is off while this page is not seen.");
    } else if (activity.running && openSource()?.kind === "video") {
      const video = openSource();
      goOn = async () => (video === openSource() ? startLoop() : undefined);
      halt();
      settle();
    }
  });
}

/** One frame more; a camera stays open for the next step. */
export async function step() {
  if (!demo.ready) return;
  const shown = onStage();
  if (!openSource() && (!shown || shown.live)) {
    if (!(await openCamera())) return;
  }
  await (openSource() ? stepOnce() : rerun());
}

/** In a video, one frame back. */
export async function stepBack() {
  if (demo.ready && openSource()?.kind === "video") await stepOnce(-1);
}
