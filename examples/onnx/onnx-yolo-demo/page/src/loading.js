"use strict";

/**
 * Changing the model or the back end while the page is in use, and going on after a lost GPU.
 *
 * The frame loop rests during a load and goes on afterwards; a picture gets the new model's boxes.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoLoading = (() => {
  const { byId } = demoEnvironment;
  const { demo, say, attempt, hideScreen, settleReady } = demoStatus;
  const state = { losses: 0 }; // of the GPU device since the user last chose a back end

  /** Load a model, after those asked for before, and show the picture's detections by it. */
  function loadModel(wanted, backend = byId("backend").value) {
    return demoModel.inTurn(() => loadNow(wanted, backend));
  }

  async function loadNow(wanted, backend) {
    const wasRunning = demoStatus.running;
    demoLoop.halt();
    demo.ready = false;
    byId("loading").hidden = false;
    hideScreen();
    say(`Loading ${wanted.name}…`);
    try {
      await demoModel.whileLoading(demoModel.loadOrKeep(wanted, backend));
      byId("loading").hidden = true;
      await afterLoad(wasRunning);
    } finally {
      byId("loading").hidden = true;
      settleReady();
    }
  }

  async function afterLoad(wasRunning) {
    if (!wasRunning || !demoLoop.source) {
      await demoDetection.rerun();
      return;
    }
    settleReady();
    await demoLoop.start();
  }

  const present = () => demoModel.current ?? demoModel.builtin();

  /** Load the present model again, on the back end that the user chose. */
  async function chooseBackend(backend) {
    state.losses = 0;
    byId("backend").value = backend;
    await loadModel(present(), backend);
  }

  /** The GPU is gone: load again with WebGPU the first time, with WebAssembly after that. */
  function recover(reason) {
    const wasRunning = demoStatus.running;
    demoLoop.halt();
    demo.ready = false;
    state.losses += 1;
    const backend = state.losses === 1 ? (demo.info?.requested ?? "auto") : "wasm";
    demoStatus.showScreen("device-lost", { detail: `The browser's reason: ${reason}` });
    const task = demoModel.inTurn(() => reloadAfterLoss(backend, reason, wasRunning));
    return attempt(() => task);
  }

  async function reloadAfterLoss(backend, reason, wasRunning) {
    await demoModel.whileLoading(demoModel.loadOrWasm(present(), backend));
    hideScreen();
    const now = demo.info.backend === "webgpu" ? "WebGPU again" : "WebAssembly";
    const text = `the GPU was lost (${reason}); the model now runs on ${now}`;
    demoModel.showNote([text, demo.info.note].filter(Boolean).map(demoView.sentence).join(" "));
    await afterLoad(wasRunning);
    settleReady();
    say(demoView.sentence(text));
  }

  demoModel.onLost = recover;

  return {
    loadModel,
    loadBuiltin: () => loadModel(demoModel.builtin()),
    loadFile: (file, name) => loadModel(demoModel.own(file, name)),
    chooseBackend,
  };
})();
