"use strict";

/**
 * One detection: a frame goes to the detector and comes back to the stage with its boxes.
 *
 * One frame is in flight at a time. The bitmap that was inferred comes back with its detections
 * and is what the stage shows; a frame that nobody wants any more is dropped.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoDetection = (() => {
  const { demo } = demoStatus;
  const state = { waitingRerun: null }; // promise of a run on the shown picture that has not begun

  /**
   * Detect in one frame and show the result; the only place that calls the detector.
   * `isWanted` tells in the end whether the frame still belongs on the stage.
   */
  async function process(frame, makeBitmap, isWanted) {
    const used = demoSettings.current();
    const result = await demoModel.detect(await makeBitmap(), used);
    if (!isWanted()) {
      result.bitmap.close();
      return demo.last;
    }
    const { names } = demo.info;
    const detections = result.detections.map((found) => ({ ...found, name: names[found.classId] }));
    demoStage.show({ ...frame, bitmap: result.bitmap }, detections, result.times, used);
    return demo.last;
  }

  /**
   * Detect in a frame, which must be the only one. Errors of a lost GPU are left to `recover`.
   * @param {{title: string, mirrored: boolean, live?: string}} frame
   * @param {() => Promise<ImageBitmap>} makeBitmap
   * @param {() => boolean} isWanted Whether the frame still belongs on the stage.
   * @returns {Promise<object>} As `demo.last`.
   */
  function processAlone(frame, makeBitmap, isWanted) {
    return demoModel.whileDetecting(process(frame, makeBitmap, isWanted));
  }

  const canRerun = () => demoStage.shown && demo.info && !demoStatus.running;

  /** Detect in the picture on the stage again, as soon as the detector is free. */
  function rerun() {
    if (!canRerun()) return Promise.resolve(demo.last);
    state.waitingRerun ??= rerunWhenFree();
    return state.waitingRerun.catch(ignoreLoss);
  }

  async function rerunWhenFree() {
    await null; // so that the assignment comes first, and the reset below after it
    while (demoModel.busy) await demoModel.busy;
    state.waitingRerun = null;
    if (!canRerun()) return demo.last;
    const picture = demoStage.shown;
    const copy = () => createImageBitmap(picture.bitmap);
    const last = await processAlone(picture, copy, () => picture === demoStage.shown);
    // Null: another picture came before the first one had its detections.
    if (last) demoStatus.say(`Found ${demoView.summary(last.detections)}. ${picture.title}.`);
    demoStatus.settle();
    return last;
  }

  // After a loss the shown picture is run again by `recover`.
  function ignoreLoss(error) {
    if (error.code === "device-lost") return demo.last;
    throw error;
  }

  return { processAlone, rerun };
})();
