"use strict";

/**
 * Opening cameras and videos, and what start, stop and step do with them.
 *
 * Opening takes time, in which the user may ask for something else. So whatever is opened draws a
 * ticket, pictures too, and only the last one is kept.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoLive = (() => {
  const { byId, memory } = demoEnvironment;
  const { demo, say, settle, hideScreen } = demoStatus;
  const { CameraSource, VideoSource } = demoSources;
  const state = {
    opening: 0, // counts sources asked for
    cameraId: "", // of the camera opened last
    mirrorChoices: new Map(), // by device; "" is a choice made before any was open
  };

  /** @returns {() => boolean} Whether nothing else was opened, and nothing stopped, since. */
  function beginOpening() {
    state.opening += 1;
    const ticket = state.opening;
    for (const button of byId("samples").children) button.setAttribute("aria-pressed", "false");
    return () => ticket === state.opening;
  }

  // ------------------------------------------------------------------------ camera

  /** @returns {Promise<boolean>} Whether the camera is open, and still wanted. */
  async function openCamera() {
    const isWanted = beginOpening();
    demoLoop.close();
    hideScreen();
    say("Opening the camera…");
    const wanted = byId("camera-select").value || memory.get("sessionStorage", "camera");
    const camera = await CameraSource.open(byId("feed"), wanted, isWanted);
    if (camera === null) return false;
    demoLoop.use(camera);
    camera.onEnded = () => cameraEnded();
    memory.set("sessionStorage", "camera", camera.deviceId);
    state.cameraId = camera.deviceId;
    const choice = state.mirrorChoices.get(state.cameraId) ?? state.mirrorChoices.get("");
    byId("mirror").checked = choice ?? camera.mirroredByDefault;
    await fillCameras(camera.deviceId);
    return isWanted();
  }

  function cameraEnded() {
    demoLoop.close();
    const happened = "The camera was unplugged or taken by the system.";
    demoStatus.showScreen("no-camera", { happened });
  }

  /** List the cameras. @param {string} deviceId The one to be chosen, if it is there. */
  async function fillCameras(deviceId) {
    const cameras = await demoSources.listCameras();
    if (cameras.length === 0) return;
    const select = byId("camera-select");
    select.replaceChildren(...cameras.map(({ deviceId: id, label }) => new Option(label, id)));
    if (cameras.some((camera) => camera.deviceId === deviceId)) select.value = deviceId;
  }

  async function startCamera() {
    if (await openCamera()) await demoLoop.start();
  }

  /** Open the camera that the user chose, if one is open. @param {string} deviceId */
  async function changeCamera(deviceId) {
    memory.set("sessionStorage", "camera", deviceId);
    if (demoLoop.source?.kind === "camera") await startCamera();
  }

  /** Keep the user's choice for this camera, and show it. @param {boolean} mirrored */
  async function changeMirror(mirrored) {
    state.mirrorChoices.set(state.cameraId, mirrored);
    if (demoStage.shown?.live !== "camera" || demoStatus.running) return;
    demoStage.setMirrored(mirrored);
    await demoDetection.rerun();
  }

  // ------------------------------------------------------------------------ video

  /** Play a video file, in a loop. @param {File} file */
  async function startVideo(file) {
    const isWanted = beginOpening();
    demoLoop.close();
    hideScreen();
    const video = await VideoSource.open(byId("feed"), file);
    if (!isWanted()) {
      video.close();
      return;
    }
    demoLoop.use(video);
    await demoLoop.start();
  }

  // ------------------------------------------------------------------------ start, stop, step

  /** What the start button does: play the open source, else open the camera. */
  async function start() {
    if (!demo.ready || demoStatus.running) return;
    const kind = demoLoop.source?.kind;
    if (kind === "video" || kind === "camera") {
      hideScreen();
      await demoLoop.start();
    } else {
      await startCamera();
    }
  }

  /** Stop; the camera is given back, so that its light goes out. */
  function stop() {
    const kind = demoLoop.source?.kind;
    state.opening += 1;
    if (!kind) return;
    if (kind === "camera") demoLoop.close();
    else demoLoop.halt();
    demoStatus.set({ paused: true });
    settle();
    say(kind === "camera" ? "Stopped; the camera is off." : "Stopped.");
    demoStage.showNumbers();
  }

  /** One frame more; a camera stays open for the next step. */
  async function step() {
    if (!demo.ready) return;
    const { shown } = demoStage;
    if (!demoLoop.source && (!shown || shown.live)) {
      if (!(await openCamera())) return;
    }
    await (demoLoop.source ? demoLoop.step() : demoDetection.rerun());
  }

  return {
    beginOpening,
    fillCameras,
    startCamera,
    changeCamera,
    changeMirror,
    startVideo,
    start,
    stop,
    step,
  };
})();
