"use strict";

/**
 * The frame loop of the open camera or video: the newest frame is detected in, again and again.
 *
 * Frames that come while the detector works are skipped but the last, so the stage never lags
 * behind. The source is owned here, because a closed source must have no loop.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoLoop = (() => {
  const { byId } = demoEnvironment;
  const { demo, say, settle } = demoStatus;
  const { processAlone } = demoDetection;
  const state = {
    source: null, // the open camera or video
    freshFrame: false, // a newer frame than the last grabbed one is there
  };

  /** Take an open source; the one before must be closed. @param {LiveSource} source */
  function use(source) {
    state.source = source;
  }

  function close() {
    halt();
    state.source?.close();
    state.source = null;
    demoStatus.set({ paused: false });
  }

  /** Detect in the source's frames until `halt`. */
  async function start() {
    demoStatus.set({ running: true, paused: false });
    state.freshFrame = false;
    demoStage.restartRate();
    settle();
    say(`Running: ${state.source.title}`);
    const present = state.source;
    try {
      await present.start(() => {
        state.freshFrame = true;
        pump();
      });
    } catch (error) {
      // It was paused or closed before it began to play.
      if (present !== state.source || error.name === "AbortError") return;
      halt();
      throw error;
    }
  }

  /** End the loop; the source stays open. */
  function halt() {
    demoStatus.set({ running: false });
    state.freshFrame = false;
    state.source?.pause();
  }

  function liveFrame() {
    const { kind, title } = state.source;
    return { title, mirrored: kind === "camera" && byId("mirror").checked, live: kind };
  }

  function processLive(present) {
    return processAlone(
      liveFrame(),
      () => present.grab(),
      () => present === state.source,
    );
  }

  /** Detect in the newest frame, unless the detector is busy or there is no newer one. */
  async function pump() {
    if (!demoStatus.running || !state.freshFrame || demoModel.inFlight || !demo.ready) return;
    state.freshFrame = false;
    const present = state.source;
    try {
      await processLive(present);
    } catch (error) {
      if (present === state.source && demoStatus.running) frameFailed(error);
      return;
    }
    // It is reset a moment after the result; without the wait a newer frame would be left lying.
    await demoModel.inFlight;
    pump();
  }

  function frameFailed(error) {
    if (error.code === "device-lost") return;
    halt();
    demoStatus.showFailure(error);
  }

  /** End the loop and detect in one frame more. */
  async function step() {
    halt();
    demoStatus.set({ paused: true });
    settle();
    const present = state.source;
    await present.step();
    while (demoModel.busy) await demoModel.busy;
    if (present !== state.source || demoStatus.running) return;
    const last = await processLive(present);
    if (last) say(`Found ${demoView.summary(last.detections)}. One frame of ${present.title}.`);
    settle();
  }

  return {
    /** The open camera or video, or null. */
    get source() {
      return state.source;
    },
    use,
    close,
    start,
    halt,
    step,
  };
})();
