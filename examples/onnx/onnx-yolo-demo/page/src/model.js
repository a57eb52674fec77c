"use strict";

/**
 * The model that is loaded, and the detector that runs it.
 *
 * It knows what keeps the detector busy, a frame or a load, for it takes one thing at a time. What
 * happens to the camera and the picture around a load is not its concern: see loading.js.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoModel = (() => {
  const { byId, wantedThreads } = demoEnvironment;
  const { demo } = demoStatus;
  const PROGRESS = {
    decoding: [0.1, "Unpacking the runtime…"],
    runtime: [0.35, "Starting the runtime…"],
    model: [0.55, "Loading the model…"],
    "warm-up": [0.8, "First run of the model…"],
  };

  const state = {
    detector: null,
    model: null, // {name, builtin, read() -> Promise<Uint8Array>}
    builtinFacts: {}, // {file, sha256, bytes}
    inFlight: null, // promise of the frame being detected; never rejected
    loadingNow: null, // promise of the model being loaded; never rejected
    loads: Promise.resolve(), // one model after another
    onLost: () => {}, // called with the reason when the GPU is gone
  };

  // ------------------------------------------------------------------------ kinds of model

  function builtin() {
    return {
      name: "built-in model",
      builtin: true,
      read: () => demoAssets.bytes("model"),
    };
  }

  /** @param {Blob|Uint8Array} file @param {string} [name] Instead of the file's own. */
  function own(file, name) {
    return {
      name: name || file.name || "model.onnx",
      builtin: false,
      read: async () =>
        file instanceof Uint8Array ? file : new Uint8Array(await file.arrayBuffer()),
    };
  }

  /** Read what the build noted of the built-in model. */
  async function readBuiltinFacts() {
    if (demoAssets.has("model-info")) {
      state.builtinFacts = JSON.parse(await demoAssets.text("model-info"));
    }
  }

  // ------------------------------------------------------------------------ one at a time

  /** Load after those asked for before. @param {() => Promise} load @returns {Promise} */
  function inTurn(load) {
    const result = state.loads.then(load);
    state.loads = result.catch(() => {});
    return result;
  }

  /** Let runs on the shown picture wait for a model. */
  async function whileLoading(task) {
    state.loadingNow = task.catch(() => {});
    try {
      await task;
    } finally {
      state.loadingNow = null;
    }
  }

  /** Let others wait for a frame. @param {Promise} result @returns {Promise} The same. */
  function whileDetecting(result) {
    state.inFlight = result
      .catch(() => {})
      .finally(() => {
        state.inFlight = null;
      });
    return result;
  }

  // ------------------------------------------------------------------------ loading

  /** Load a model; if that fails, go on with the one before. */
  async function loadOrKeep(wanted, backend) {
    const { model } = state;
    const before = model && demo.info ? { model, backend: demo.info.requested } : null;
    await state.inFlight;
    try {
      await loadInto(wanted, backend);
    } catch (error) {
      byId("backend").value = before?.backend ?? backend;
      if (error.code === "model-broken" || error.code === "model-shape") {
        error.message = `File ${wanted.name}: ${error.message}`;
      }
      if (!state.detector?.loaded) {
        demo.info = null;
        // What is shown is the first error; without a model the page says so.
        if (before) await loadInto(before.model, before.backend).catch(() => {});
      }
      throw error;
    }
  }

  /** Load a model; if WebGPU fails, with WebAssembly. */
  async function loadOrWasm(wanted, backend) {
    await state.inFlight;
    try {
      await loadInto(wanted, backend);
    } catch (error) {
      if (backend === "wasm") throw error;
      await loadInto(wanted, "wasm");
    }
  }

  async function loadInto(wanted, backend) {
    if (state.detector === null) {
      state.detector = new Detector({ onProgress: showProgress });
      state.detector.onLost = (reason) => state.onLost(reason);
    }
    const bytes = await wanted.read();
    const options = { model: bytes, modelName: wanted.name, backend, threads: wantedThreads() };
    const info = await state.detector.load(options);
    const sameClasses = demo.info && String(demo.info.names) === String(info.names);
    const sameModel = state.model === wanted;
    state.model = wanted;
    demo.info = info;
    byId("backend").value = backend;
    if (!sameClasses) demoSettings.setClasses(info.names);
    if (!sameModel) demoSettings.setThresholds(info);
    demoStage.clearTimes();
    showInfo(info);
  }

  // ------------------------------------------------------------------------ what the page says

  function showProgress({ stage: at, detail }) {
    const [share, text] = PROGRESS[at] ?? [0.5, detail];
    byId("progress").value = share;
    demoView.setText(byId("progress-text"), text);
  }

  function showInfo(info) {
    const count = info.names.length;
    const [height, width] = info.size;
    const classes = `${count} ${count === 1 ? "class" : "classes"}`;
    demoView.setText(byId("model-name"), info.modelName);
    const { model, builtinFacts } = state;
    const file = model.builtin && builtinFacts.file ? `, ${builtinFacts.file}` : "";
    demoView.setText(byId("model-facts"), `${width} × ${height} pixels, ${classes}${file}`);
    demoView.setText(byId("backend-shown"), backendText(info));
    showNote(info.note);
  }

  function backendText({ backend, adapter, threads: count }) {
    if (backend === "webgpu") return adapter ? `WebGPU, ${adapter}` : "WebGPU";
    return `WebAssembly, ${count} ${count === 1 ? "thread" : "threads"}`;
  }

  /** @param {string} note On the back end; "" for none. */
  function showNote(note) {
    const element = byId("backend-note");
    element.hidden = !note;
    demoView.setText(element, note ? demoView.sentence(note) : "");
  }

  /** @returns {object} What a file of detections says of the model. */
  function facts() {
    const { modelName, size, names, backend, adapter, threads: count } = demo.info;
    const known = { name: modelName, size, names, backend, adapter, threads: count };
    return state.model.builtin ? { ...known, ...state.builtinFacts } : known;
  }

  return {
    /** The model in use, or null. */
    get current() {
      return state.model;
    },
    /** Promise of the frame being detected, or null. */
    get inFlight() {
      return state.inFlight;
    },
    /** Promise of what the detector is at, a frame or a load; null if it is free. */
    get busy() {
      return state.inFlight ?? state.loadingNow;
    },
    /** Promise of the loads asked for so far. */
    get loads() {
      return state.loads;
    },
    /** @param {(reason: string) => void} handler */
    set onLost(handler) {
      state.onLost = handler;
    },
    builtin,
    own,
    readBuiltinFacts,
    inTurn,
    whileLoading,
    whileDetecting,
    loadOrKeep,
    loadOrWasm,
    detect: (bitmap, settings) => state.detector.detect(bitmap, settings),
    showNote,
    facts,
  };
})();
