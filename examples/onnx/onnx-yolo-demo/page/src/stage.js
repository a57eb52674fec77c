"use strict";

/**
 * What is on the stage, and the numbers beside it: the picture, its boxes, the list, the times.
 *
 * It owns the shown bitmap: whoever hands one over must not close it. So boxes always lie on the
 * very frame they belong to, and no frame is kept longer than it is seen.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoStage = (() => {
  const { byId } = demoEnvironment;
  const { demo } = demoStatus;
  const NUMBERS_EVERY_MS = 250;

  const stage = new demoView.StageView(byId("stage"), byId("stage-frame"));
  const chart = new demoView.TimeChart(byId("chart"));
  const frameTimes = new demoView.FrameTimes();
  const list = new demoView.DetectionList(
    byId("detections"),
    byId("detections-count"),
    byId("detections-empty"),
  );

  const state = {
    shown: null, // {bitmap, detections, title, mirrored, live} on the stage
    numbersAt: 0, // when the numbers were written last
  };

  /** Put a picture on the stage, without boxes. @param {ImageBitmap} bitmap @param {string} title */
  function put(bitmap, title) {
    state.shown?.bitmap.close();
    state.shown = { bitmap, title, mirrored: false, detections: [] };
    stage.draw(bitmap, [], false);
  }

  /**
   * Show a frame with its detections, which become `demo.last`.
   * @param {{bitmap: ImageBitmap, title: string, mirrored: boolean, live?: string}} frame
   * @param {object[]} detections With names; see `StageView.draw`.
   * @param {{pre: number, inference: number, post: number}} times Milliseconds.
   * @param {object} used The settings they were found with.
   */
  function show(frame, detections, times, used) {
    const { bitmap, mirrored, title } = frame;
    stage.draw(bitmap, detections, mirrored);
    if (state.shown && state.shown.bitmap !== bitmap) state.shown.bitmap.close();
    state.shown = { ...frame, detections };
    demo.frames += 1;
    demo.last = {
      detections,
      width: bitmap.width,
      height: bitmap.height,
      times,
      frame: demo.frames,
      title,
      mirrored,
      scale: stage.scale,
      settings: used,
    };
    demo.firstResultMs ??= performance.now();
    list.show(detections);
    frameTimes.push(times, performance.now());
    chart.push(times);
    showNumbers();
  }

  /** Say whether what is shown is a mirror image. @param {boolean} mirrored */
  function setMirrored(mirrored) {
    state.shown.mirrored = mirrored;
  }

  /** Letters and lines are as thick on a smaller stage. */
  function redraw() {
    const { shown } = state;
    if (shown && !demoStatus.running) stage.draw(shown.bitmap, shown.detections, shown.mirrored);
  }

  /** Draw again whenever the stage's size changes. */
  function watchSize() {
    new ResizeObserver(redraw).observe(byId("stage-frame"));
  }

  /** Write the medians and the frame rate; while frames run, only now and then. */
  function showNumbers() {
    const now = performance.now();
    if (demoStatus.running && now - state.numbersAt < NUMBERS_EVERY_MS) return;
    state.numbersAt = now;
    for (const name of ["pre", "inference", "post"]) {
      demoView.setText(byId(`time-${name}`), decimal(frameTimes.median(name), 1));
    }
    const fps = demoStatus.running ? frameTimes.fps() : Number.NaN;
    demoView.setText(byId("fps"), decimal(fps, fps < 9.95 ? 1 : 0));
  }

  function decimal(value, digits) {
    return Number.isNaN(value) ? "–" : value.toFixed(digits);
  }

  /** Forget the times of another model. */
  function clearTimes() {
    frameTimes.clear();
    chart.clear();
  }

  return {
    get shown() {
      return state.shown;
    },
    put,
    show,
    setMirrored,
    watchSize,
    showNumbers,
    clearTimes,
    restartRate: () => frameTimes.restart(),
    restyle: () => chart.restyle(),
    snapshot: () => stage.snapshot(),
  };
})();
