"use strict";

/**
 * What the user takes away: the stage as a picture, the detections as JSON.
 *
 * A file of detections names the model, the settings and the picture, so that it can be told later
 * what it was made from.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoSaving = (() => {
  const { demo, say } = demoStatus;

  function fileStamp() {
    return new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  }

  async function saveSnapshot() {
    if (!demoStage.shown) return;
    demoView.download(await demoStage.snapshot(), `detections-${fileStamp()}.png`);
    say("Saved a snapshot.");
  }

  function saveJson() {
    const { last } = demo;
    if (!last) return;
    const { confidence, iou, enabled } = last.settings;
    const content = {
      created: new Date().toISOString(),
      picture: { title: last.title, width: last.width, height: last.height },
      shownMirrored: last.mirrored,
      model: demoModel.facts(),
      thresholds: { confidence, iou },
      classes: enabled ?? "all",
      milliseconds: last.times,
      detections: last.detections,
    };
    const text = `${JSON.stringify(content, null, 2)}\n`;
    demoView.download(
      new Blob([text], { type: "application/json" }),
      `detections-${fileStamp()}.json`,
    );
    say("Saved the detections.");
  }

  return { saveSnapshot, saveJson };
})();
