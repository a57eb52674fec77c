"use strict";

/**
 * The page: it joins sources, detector and view.
 *
 * One frame is in flight at a time. The bitmap that was inferred comes back with its detections
 * and is what the stage shows, so boxes always lie on the very frame they belong to.
 */
(() => {
  const { CameraSource, VideoSource } = demoSources;
  const NEEDED_ASSETS = ["runtime", "runtime-module", "wasm", "model"];
  const NUMBERS_EVERY_MS = 250;
  const PROGRESS = {
    decoding: [0.1, "Unpacking the runtime…"],
    runtime: [0.35, "Starting the runtime…"],
    model: [0.55, "Loading the model…"],
    "warm-up": [0.8, "First run of the model…"],
  };

  const byId = (id) => document.getElementById(id);
  const address = new URLSearchParams(location.search);

  /** What a session keeps over a reload; some browsers allow none of it to pages from disk. */
  const memory = {
    get(store, key) {
      try {
        return window[store].getItem(key) ?? "";
      } catch {
        return "";
      }
    },
    set(store, key, value) {
      try {
        window[store].setItem(key, value);
      } catch {
        // Not remembered: the page works without.
      }
    },
  };

  const stage = new demoView.StageView(byId("stage"), byId("stage-frame"));
  const chart = new demoView.TimeChart(byId("chart"));
  const frameTimes = new demoView.FrameTimes();
  const list = new demoView.DetectionList(
    byId("detections"),
    byId("detections-count"),
    byId("detections-empty"),
  );
  const classFilter = new demoView.ClassFilter(byId("class-filter"), byId("class-search"), () =>
    attempt(rerun),
  );
  const screen = new demoMessages.MessageScreen(byId("message"), (action) => act(action));

  let detector = null;
  let model = null; // {name, builtin, read() -> Promise<Uint8Array>}
  let source = null; // the open camera or video
  let shown = null; // {bitmap, detections, title, mirrored, live} on the stage
  let running = false;
  let paused = false; // a camera or video was stopped, and its last frame is shown
  let booting = true; // until the first picture has its detections
  let freshFrame = false; // a newer frame than the last grabbed one is there
  let inFlight = null; // promise of the frame being detected; never rejected
  let waitingRerun = null; // promise of a run on the shown picture that has not begun
  let opening = 0; // counts sources asked for; only the last one is kept
  let loads = Promise.resolve(); // one model after another
  let loadingNow = null; // promise of the model being loaded; never rejected
  let builtinFacts = {}; // {file, sha256, bytes}
  let losses = 0; // of the GPU device since the user last chose a back end
  let failing = false; // an error stopped the last thing asked for
  let numbersAt = 0;
  let cameraId = ""; // of the camera opened last
  const mirrorChoices = new Map(); // by device; "" is a choice made before any was open

  const demo = {
    ready: false,
    state: "loading",
    get screen() {
      return screen.shown;
    },
    info: null,
    last: null,
    frames: 0,
    errors: [],
    benchmark: null,
    firstResultMs: null,
    detectImage,
    loadModel: (file, name) => loadModel(ownModel(file, name)),
    benchmarkModels: (models, options) => demoBenchmark.compareModels(models, options, sampleFrame),
  };
  window.demo = demo;

  // ------------------------------------------------------------------------ state and messages

  function say(text, bad = false) {
    const status = byId("status");
    demoView.setText(status, text);
    status.classList.toggle("bad", bad);
  }

  function setState(state) {
    const focused = document.activeElement;
    demo.state = state;
    document.body.dataset.state = state;
    const able = demo.ready;
    byId("start").disabled = !able || running;
    byId("stop").disabled = !running && source?.kind !== "camera";
    byId("step").disabled = !able;
    byId("snapshot").disabled = shown === null;
    byId("save-json").disabled = demo.last === null;
    byId("model-builtin").disabled = model === null || model.builtin;
    byId("live-badge").hidden = !(running && source?.kind === "camera");
    demoView.setText(byId("start-text"), source?.kind === "video" ? "Play video" : "Start camera");
    // A button that goes dead must not take the keyboard's place with it.
    if (focused?.disabled) byId(focused.id === "start" ? "stop" : "start").focus();
  }

  /** The state that follows from what is going on. */
  function settle() {
    if (running) setState("running");
    else if (failing) setState("error");
    else if (!demo.ready) setState("loading");
    else setState(paused ? "paused" : "ready");
  }

  function showScreen(id, texts = {}) {
    failing = true;
    screen.show(id, texts);
    const title = demoView.sentence(byId("message").querySelector("h2").textContent);
    say(texts.happened || [title, texts.detail].filter(Boolean).join(" "), true);
    settle();
  }

  function hideScreen() {
    failing = false;
    screen.hide();
    settle();
  }

  /** Show the screen of an error; errors without one are for the runtime's screen. */
  function showFailure(error) {
    const code = error.code === "assets-missing" ? "no-assets" : error.code;
    const id = demoMessages.hasScreen(code) ? code : "runtime";
    const own = ["no-camera", "camera-refused", "file-broken"].includes(id);
    showScreen(id, { [own ? "happened" : "detail"]: demoView.sentence(error.message) });
  }

  function recordError(text) {
    demo.errors.push(text);
    say(`Error: ${text}`, true);
  }

  function watchErrors() {
    window.addEventListener("error", (event) => recordError(event.message || "unknown error"));
    window.addEventListener("unhandledrejection", ({ reason }) =>
      recordError(String(reason?.message ?? reason)),
    );
    document.addEventListener("securitypolicyviolation", (event) =>
      recordError(`the page's policy blocked ${event.blockedURI} (${event.violatedDirective})`),
    );
  }

  /** Run what a user asked for; its failure becomes a screen. */
  async function attempt(task) {
    try {
      await task();
    } catch (error) {
      showFailure(error);
    }
  }

  function act(action) {
    const actions = {
      reload: () => location.reload(),
      dismiss: () => (demo.info ? hideScreen() : attempt(() => chooseBackend("auto"))),
      "retry-camera": () => attempt(startCamera),
      "open-picture": () => byId("image-file").click(),
      "open-model": () => byId("model-file").click(),
      "show-sample": () => attempt(() => showSample(1)),
      "use-wasm": () => attempt(() => chooseBackend("wasm")),
      "builtin-model": () => (usesBuiltin() ? hideScreen() : attempt(loadBuiltin)),
      "reload-model": () => attempt(() => chooseBackend(byId("backend").value)),
    };
    return actions[action]();
  }

  // ------------------------------------------------------------------------ model

  function builtinModel() {
    return {
      name: "built-in model",
      builtin: true,
      read: () => demoAssets.bytes("model"),
    };
  }

  const loadBuiltin = () => loadModel(builtinModel());
  const usesBuiltin = () => demo.info !== null && model.builtin;

  function ownModel(file, name) {
    return {
      name: name || file.name || "model.onnx",
      builtin: false,
      read: async () =>
        file instanceof Uint8Array ? file : new Uint8Array(await file.arrayBuffer()),
    };
  }

  function showProgress({ stage: at, detail }) {
    const [share, text] = PROGRESS[at] ?? [0.5, detail];
    byId("progress").value = share;
    demoView.setText(byId("progress-text"), text);
  }

  function threads() {
    const wanted = Number.parseInt(address.get("threads"), 10);
    return wanted > 0 ? wanted : undefined;
  }

  /** Load a model, after those asked for before, and show the picture's detections by it. */
  function loadModel(wanted, backend = byId("backend").value) {
    const result = loads.then(() => loadNow(wanted, backend));
    loads = result.catch(() => {});
    return result;
  }

  async function loadNow(wanted, backend) {
    const wasRunning = running;
    haltLoop();
    demo.ready = false;
    byId("loading").hidden = false;
    hideScreen();
    say(`Loading ${wanted.name}…`);
    try {
      await whileLoading(loadOrKeep(wanted, backend));
      byId("loading").hidden = true;
      await afterLoad(wasRunning);
    } finally {
      byId("loading").hidden = true;
      settleReady();
    }
  }

  /** Let runs on the shown picture wait for a model. */
  async function whileLoading(task) {
    loadingNow = task.catch(() => {});
    try {
      await task;
    } finally {
      loadingNow = null;
    }
  }

  function settleReady() {
    demo.ready = demo.info !== null && !booting;
    settle();
  }

  /** Load a model; if that fails, go on with the one before. */
  async function loadOrKeep(wanted, backend) {
    const before = model && demo.info ? { model, backend: demo.info.requested } : null;
    await inFlight;
    try {
      await loadInto(wanted, backend);
    } catch (error) {
      byId("backend").value = before?.backend ?? backend;
      if (error.code === "model-broken" || error.code === "model-shape") {
        error.message = `File ${wanted.name}: ${error.message}`;
      }
      if (!detector?.loaded) {
        demo.info = null;
        // What is shown is the first error; without a model the page says so.
        if (before) await loadInto(before.model, before.backend).catch(() => {});
      }
      throw error;
    }
  }

  async function loadInto(wanted, backend) {
    if (detector === null) {
      detector = new Detector({ onProgress: showProgress });
      detector.onLost = (reason) => recover(reason);
    }
    const bytes = await wanted.read();
    const options = { model: bytes, modelName: wanted.name, backend, threads: threads() };
    const info = await detector.load(options);
    const sameClasses = demo.info && String(demo.info.names) === String(info.names);
    const sameModel = model === wanted;
    model = wanted;
    demo.info = info;
    byId("backend").value = backend;
    if (!sameClasses) classFilter.setNames(info.names);
    if (!sameModel) setThresholds(info);
    frameTimes.clear();
    chart.clear();
    showInfo(info);
  }

  function setThresholds(info) {
    for (const name of ["confidence", "iou"]) {
      byId(name).value = String(info[name]);
      showThreshold(name);
    }
  }

  function showThreshold(name) {
    demoView.setText(byId(`${name}-value`), Number(byId(name).value).toFixed(2));
  }

  function showInfo(info) {
    const count = info.names.length;
    const [height, width] = info.size;
    const classes = `${count} ${count === 1 ? "class" : "classes"}`;
    demoView.setText(byId("model-name"), info.modelName);
    const file = model.builtin && builtinFacts.file ? `, ${builtinFacts.file}` : "";
    demoView.setText(byId("model-facts"), `${width} × ${height} pixels, ${classes}${file}`);
    demoView.setText(byId("backend-shown"), backendText(info));
    showNote(info.note);
  }

  function backendText({ backend, adapter, threads: count }) {
    if (backend === "webgpu") return adapter ? `WebGPU, ${adapter}` : "WebGPU";
    return `WebAssembly, ${count} ${count === 1 ? "thread" : "threads"}`;
  }

  function showNote(note) {
    const element = byId("backend-note");
    element.hidden = !note;
    demoView.setText(element, note ? demoView.sentence(note) : "");
  }

  async function afterLoad(wasRunning) {
    if (!wasRunning || !source) {
      await rerun();
      return;
    }
    settleReady();
    await startLoop();
  }

  async function chooseBackend(backend) {
    losses = 0;
    byId("backend").value = backend;
    await loadModel(model ?? builtinModel(), backend);
  }

  /** The GPU is gone: load again with WebGPU the first time, with WebAssembly after that. */
  function recover(reason) {
    const wasRunning = running;
    haltLoop();
    demo.ready = false;
    losses += 1;
    const backend = losses === 1 ? (demo.info?.requested ?? "auto") : "wasm";
    showScreen("device-lost", { detail: `The browser's reason: ${reason}` });
    const task = loads.then(() => reloadAfterLoss(backend, reason, wasRunning));
    loads = task.catch(() => {});
    return attempt(() => task);
  }

  async function reloadAfterLoss(backend, reason, wasRunning) {
    await whileLoading(loadOrWasm(model ?? builtinModel(), backend));
    hideScreen();
    const now = demo.info.backend === "webgpu" ? "WebGPU again" : "WebAssembly";
    const text = `the GPU was lost (${reason}); the model now runs on ${now}`;
    showNote([text, demo.info.note].filter(Boolean).map(demoView.sentence).join(" "));
    await afterLoad(wasRunning);
    settleReady();
    say(demoView.sentence(text));
  }

  async function loadOrWasm(wanted, backend) {
    await inFlight;
    try {
      await loadInto(wanted, backend);
    } catch (error) {
      if (backend === "wasm") throw error;
      await loadInto(wanted, "wasm");
    }
  }

  // ------------------------------------------------------------------------ detection

  function settings() {
    return {
      confidence: Number(byId("confidence").value),
      iou: Number(byId("iou").value),
      enabled: classFilter.enabled(),
    };
  }

  /**
   * Detect in one frame and show the result; the only place that calls the detector.
   * `isWanted` tells in the end whether the frame still belongs on the stage.
   */
  async function process(frame, makeBitmap, isWanted) {
    const used = settings();
    const result = await detector.detect(await makeBitmap(), used);
    if (!isWanted()) {
      result.bitmap.close();
      return demo.last;
    }
    const { names } = demo.info;
    const detections = result.detections.map((found) => ({ ...found, name: names[found.classId] }));
    show({ ...frame, bitmap: result.bitmap }, detections, result.times, used);
    return demo.last;
  }

  /** Do `process`, alone. Errors of a lost GPU are left to `recover`. */
  function processAlone(frame, makeBitmap, isWanted) {
    const result = process(frame, makeBitmap, isWanted);
    inFlight = result
      .catch(() => {})
      .finally(() => {
        inFlight = null;
      });
    return result;
  }

  function show(frame, detections, times, used) {
    const { bitmap, mirrored, title } = frame;
    stage.draw(bitmap, detections, mirrored);
    if (shown && shown.bitmap !== bitmap) shown.bitmap.close();
    shown = { ...frame, detections };
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
    showNumbers(running);
  }

  /** Letters and lines are as thick on a smaller stage. */
  function redraw() {
    if (shown && !running) stage.draw(shown.bitmap, shown.detections, shown.mirrored);
  }

  function showNumbers(patient) {
    const now = performance.now();
    if (patient && now - numbersAt < NUMBERS_EVERY_MS) return;
    numbersAt = now;
    for (const name of ["pre", "inference", "post"]) {
      demoView.setText(byId(`time-${name}`), decimal(frameTimes.median(name), 1));
    }
    const fps = running ? frameTimes.fps() : Number.NaN;
    demoView.setText(byId("fps"), decimal(fps, fps < 9.95 ? 1 : 0));
  }

  function decimal(value, digits) {
    return Number.isNaN(value) ? "–" : value.toFixed(digits);
  }

  /** Detect in the picture on the stage again, as soon as the detector is free. */
  function rerun() {
    if (!shown || !demo.info || running) return Promise.resolve(demo.last);
    waitingRerun ??= (async () => {
      await null; // so that the assignment comes first, and the reset below after it
      while (inFlight || loadingNow) await (inFlight ?? loadingNow);
      waitingRerun = null;
      if (!shown || running || !demo.info) return demo.last;
      const picture = shown;
      const copy = () => createImageBitmap(picture.bitmap);
      const last = await processAlone(picture, copy, () => picture === shown);
      // Null: another picture came before the first one had its detections.
      if (last) say(`Found ${demoView.summary(last.detections)}. ${picture.title}.`);
      settle();
      return last;
    })();
    return waitingRerun.catch(ignoreLoss);
  }

  // After a loss the shown picture is run again by `recover`.
  function ignoreLoss(error) {
    if (error.code === "device-lost") return demo.last;
    throw error;
  }

  // ------------------------------------------------------------------------ pictures

  /** Put a picture on the stage, at once without boxes, and detect in it. */
  async function showPicture(blob, title) {
    const ticket = beginOpening();
    const bitmap = await demoSources.decodePicture(blob);
    if (ticket !== opening) {
      bitmap.close();
      return demo.last;
    }
    closeSource();
    if (demo.info) hideScreen();
    shown?.bitmap.close();
    shown = { bitmap, title, mirrored: false, detections: [] };
    stage.draw(bitmap, [], false);
    settle();
    if (demo.info) say(`Detecting in ${title}…`);
    return rerun();
  }

  let images = Promise.resolve();

  /**
   * Detect in a picture and show it.
   * @param {Blob|string} picture A file, or a data: address.
   * @returns {Promise<object>} As `demo.last`.
   */
  function detectImage(picture) {
    const result = images.then(async () => {
      await loads;
      const blob = typeof picture === "string" ? await (await fetch(picture)).blob() : picture;
      return showPicture(blob, blob.name || "Picture");
    });
    images = result.catch(() => {});
    return result;
  }

  const sampleFiles = new Map(); // by asset name, in the order shown

  async function sampleFile(entry) {
    const bytes = await demoAssets.bytes(entry.asset);
    return new Blob([bytes], { type: entry.type });
  }

  async function fillSamples() {
    const any = demoAssets.has("samples");
    byId("samples").hidden = !any;
    byId("samples-title").hidden = !any;
    if (!any) return;
    const entries = JSON.parse(await demoAssets.text("samples"));
    await Promise.all(
      entries.map(async (entry) => {
        sampleFiles.set(entry.asset, { entry, blob: null });
        sampleFiles.get(entry.asset).blob = await sampleFile(entry);
      }),
    );
    [...sampleFiles.values()].forEach(({ entry, blob }, index) => {
      byId("samples").append(sampleButton(entry, blob, index + 1));
    });
  }

  function sampleButton(entry, blob, number) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sample";
    button.dataset.sample = String(number);
    button.title = entry.title;
    button.setAttribute("aria-pressed", "false");
    const image = document.createElement("img");
    image.alt = `Sample: ${entry.title}`;
    image.width = 96;
    image.height = 68;
    image.src = URL.createObjectURL(blob);
    button.append(image);
    button.addEventListener("click", () => attempt(() => showSample(number)));
    return button;
  }

  async function showSample(number) {
    const sample = [...sampleFiles.values()][number - 1];
    if (!sample) return;
    const result = showPicture(sample.blob, `Sample: ${sample.entry.title}`);
    for (const button of byId("samples").children) {
      button.setAttribute("aria-pressed", String(button.dataset.sample === String(number)));
    }
    await result;
  }

  /** @returns {Promise<ImageBitmap>} The first sample, for the benchmark. */
  async function sampleFrame() {
    const [sample] = sampleFiles.values();
    if (!sample) throw new Error("the benchmark needs the page's samples; build the page again");
    return demoSources.decodePicture(sample.blob);
  }

  // ------------------------------------------------------------------------ camera and video

  function beginOpening() {
    opening += 1;
    for (const button of byId("samples").children) button.setAttribute("aria-pressed", "false");
    return opening;
  }

  function closeSource() {
    haltLoop();
    source?.close();
    source = null;
    paused = false;
  }

  async function openCamera() {
    const ticket = beginOpening();
    closeSource();
    hideScreen();
    say("Opening the camera…");
    const wanted = byId("camera-select").value || memory.get("sessionStorage", "camera");
    const isWanted = () => ticket === opening;
    const camera = await CameraSource.open(byId("feed"), wanted, isWanted);
    if (camera === null) return false;
    source = camera;
    camera.onEnded = () => cameraEnded();
    memory.set("sessionStorage", "camera", camera.deviceId);
    cameraId = camera.deviceId;
    const choice = mirrorChoices.get(cameraId) ?? mirrorChoices.get("");
    byId("mirror").checked = choice ?? camera.mirroredByDefault;
    await fillCameras(camera.deviceId);
    return isWanted();
  }

  function cameraEnded() {
    closeSource();
    showScreen("no-camera", { happened: "The camera was unplugged or taken by the system." });
  }

  async function fillCameras(deviceId) {
    const cameras = await demoSources.listCameras();
    if (cameras.length === 0) return;
    const select = byId("camera-select");
    select.replaceChildren(...cameras.map(({ deviceId: id, label }) => new Option(label, id)));
    if (cameras.some((camera) => camera.deviceId === deviceId)) select.value = deviceId;
  }

  async function openVideo(file) {
    const ticket = beginOpening();
    closeSource();
    hideScreen();
    const video = await VideoSource.open(byId("feed"), file);
    if (ticket !== opening) {
      video.close();
      return;
    }
    source = video;
    await startLoop();
  }

  async function startCamera() {
    if (await openCamera()) await startLoop();
  }

  /** What the start button does: play the open video, else open the camera. */
  async function start() {
    if (!demo.ready || running) return;
    if (source?.kind === "video" || source?.kind === "camera") {
      hideScreen();
      await startLoop();
    } else {
      await startCamera();
    }
  }

  async function startLoop() {
    running = true;
    paused = false;
    freshFrame = false;
    frameTimes.restart();
    settle();
    say(`Running: ${source.title}`);
    const present = source;
    try {
      await source.start(() => {
        freshFrame = true;
        pump();
      });
    } catch (error) {
      // It was paused or closed before it began to play.
      if (present !== source || error.name === "AbortError") return;
      haltLoop();
      throw error;
    }
  }

  function haltLoop() {
    running = false;
    freshFrame = false;
    source?.pause();
  }

  /** Stop; the camera is given back, so that its light goes out. */
  function stop() {
    const kind = source?.kind;
    opening += 1;
    if (!kind) return;
    if (kind === "camera") closeSource();
    else haltLoop();
    paused = true;
    settle();
    say(kind === "camera" ? "Stopped; the camera is off." : "Stopped.");
    showNumbers(false);
  }

  function liveFrame() {
    const mirrored = source.kind === "camera" && byId("mirror").checked;
    return { title: source.title, mirrored, live: source.kind };
  }

  /** Detect in the newest frame, unless the detector is busy or there is no newer one. */
  async function pump() {
    if (!running || !freshFrame || inFlight || !demo.ready) return;
    freshFrame = false;
    const present = source;
    try {
      await processAlone(
        liveFrame(),
        () => present.grab(),
        () => present === source,
      );
    } catch (error) {
      if (present === source && running) frameFailed(error);
      return;
    }
    // It is reset a moment after the result; without the wait a newer frame would be left lying.
    await inFlight;
    pump();
  }

  function frameFailed(error) {
    if (error.code === "device-lost") return;
    haltLoop();
    showFailure(error);
  }

  /** One frame more; a camera stays open for the next step. */
  async function step() {
    if (!demo.ready) return;
    if (!source && (!shown || shown.live)) {
      if (!(await openCamera())) return;
    }
    if (!source) {
      await rerun();
      return;
    }
    haltLoop();
    paused = true;
    settle();
    const present = source;
    await present.step();
    while (inFlight || loadingNow) await (inFlight ?? loadingNow);
    if (present !== source || running) return;
    const last = await processAlone(
      liveFrame(),
      () => present.grab(),
      () => present === source,
    );
    if (last) say(`Found ${demoView.summary(last.detections)}. One frame of ${present.title}.`);
    settle();
  }

  // ------------------------------------------------------------------------ saving

  function fileStamp() {
    return new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  }

  async function saveSnapshot() {
    if (!shown) return;
    demoView.download(await stage.snapshot(), `detections-${fileStamp()}.png`);
    say("Saved a snapshot.");
  }

  function modelFacts() {
    const { modelName, size, names, backend, adapter, threads: count } = demo.info;
    const facts = { name: modelName, size, names, backend, adapter, threads: count };
    return model.builtin ? { ...facts, ...builtinFacts } : facts;
  }

  function saveJson() {
    const { last } = demo;
    if (!last) return;
    const { confidence, iou, enabled } = last.settings;
    const content = {
      created: new Date().toISOString(),
      picture: { title: last.title, width: last.width, height: last.height },
      shownMirrored: last.mirrored,
      model: modelFacts(),
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

  // ------------------------------------------------------------------------ controls

  /** Open whatever a file is. */
  async function openFile(file) {
    const kind = demoSources.fileKind(file);
    if (kind === "model") return loadModel(ownModel(file));
    if (kind === "picture") return showPicture(file, file.name || "Picture");
    if (kind === "video") return openVideo(file);
    const message = `The file ${file.name} is neither a picture nor a video nor an .onnx model.`;
    throw Object.assign(new Error(message), { code: "file-broken" });
  }

  function onFile(id, open) {
    byId(id).addEventListener("change", (event) => {
      const [file] = event.target.files;
      if (file) attempt(() => open(file));
      // The same file may be chosen again.
      event.target.value = "";
    });
  }

  function onClick(id, task) {
    byId(id).addEventListener("click", () => attempt(task));
  }

  function wireButtons() {
    onClick("start", start);
    onClick("stop", stop);
    onClick("step", step);
    onClick("snapshot", saveSnapshot);
    onClick("save-json", saveJson);
    onClick("model-builtin", loadBuiltin);
    onClick("help-open", () => byId("help").showModal());
    onClick("help-close", () => byId("help").close());
    onClick("theme", switchTheme);
    onFile("image-file", (file) => showPicture(file, file.name));
    onFile("video-file", openVideo);
    onFile("model-file", (file) => loadModel(ownModel(file)));
  }

  function wireSettings() {
    for (const name of ["confidence", "iou"]) {
      byId(name).addEventListener("input", () => {
        showThreshold(name);
        attempt(rerun);
      });
    }
    for (const [id, on] of [
      ["classes-all", true],
      ["classes-none", false],
    ]) {
      onClick(id, () => {
        classFilter.setAll(on);
        return rerun();
      });
    }
    byId("backend").addEventListener("change", (event) =>
      attempt(() => chooseBackend(event.target.value)),
    );
    byId("mirror").addEventListener("change", changeMirror);
    byId("camera-select").addEventListener("change", changeCamera);
    navigator.mediaDevices?.addEventListener?.("devicechange", () =>
      fillCameras(byId("camera-select").value),
    );
  }

  function changeMirror(event) {
    mirrorChoices.set(cameraId, event.target.checked);
    if (shown?.live !== "camera" || running) return;
    shown.mirrored = event.target.checked;
    attempt(rerun);
  }

  function changeCamera(event) {
    memory.set("sessionStorage", "camera", event.target.value);
    if (source?.kind === "camera") attempt(startCamera);
  }

  function wireDrop() {
    const hint = byId("drop-hint");
    let depth = 0;
    const show = (by) => {
      depth = Math.max(0, depth + by);
      hint.hidden = depth === 0;
    };
    document.addEventListener("dragenter", () => show(1));
    document.addEventListener("dragleave", () => show(-1));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      show(-depth);
      const file = event.dataTransfer?.files[0];
      if (file) attempt(() => openFile(file));
    });
    document.addEventListener("paste", (event) => {
      const file = event.clipboardData?.files[0];
      if (!file) return;
      event.preventDefault();
      attempt(() => openFile(file));
    });
  }

  const KEYS = {
    " ": () => (running ? stop() : start()),
    ".": step,
    s: saveSnapshot,
    S: saveSnapshot,
    "?": () => byId("help").showModal(),
  };

  function wireKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
      const task = KEYS[event.key];
      if (!task || keyBelongsTo(event.target, event.key)) return;
      event.preventDefault();
      if (!event.repeat || event.key === ".") attempt(task);
    });
  }

  /** Whether an element uses this key itself. */
  function keyBelongsTo(element, key) {
    if (element.matches("select, textarea, input[type=search]")) return true;
    return key === " " && element.matches("button, a, summary, input:not([type=range])");
  }

  function switchTheme() {
    const root = document.documentElement;
    const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const present = root.dataset.theme || (systemDark ? "dark" : "light");
    root.dataset.theme = present === "dark" ? "light" : "dark";
    memory.set("localStorage", "theme", root.dataset.theme);
    chart.restyle();
  }

  function startTheme() {
    const theme = memory.get("localStorage", "theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.restyle());
  }

  // ------------------------------------------------------------------------ beginning

  function missingFeatures() {
    const needed = {
      Worker: "workers",
      WebAssembly: "WebAssembly",
      createImageBitmap: "createImageBitmap",
      OffscreenCanvas: "OffscreenCanvas",
      DecompressionStream: "DecompressionStream",
      ResizeObserver: "ResizeObserver",
    };
    return Object.keys(needed).filter((name) => !(name in window));
  }

  function whyNotAtAll() {
    const lacking = missingFeatures();
    if (lacking.length) return ["no-script-support", `It lacks ${lacking.join(", ")}.`];
    const missing = NEEDED_ASSETS.filter((name) => !demoAssets.has(name));
    if (missing.length) return ["no-assets", `Missing: ${missing.join(", ")}.`];
    return null;
  }

  async function begin() {
    const obstacle = whyNotAtAll();
    if (obstacle) {
      byId("loading").hidden = true;
      byId("samples").hidden = byId("samples-title").hidden = true;
      showScreen(obstacle[0], { detail: obstacle[1] });
      return;
    }
    const backend = address.get("backend");
    if (["webgpu", "wasm"].includes(backend)) byId("backend").value = backend;
    if (demoAssets.has("model-info")) {
      builtinFacts = JSON.parse(await demoAssets.text("model-info"));
    }
    const samples = fillSamples();
    await Promise.all([
      samples.then(preview).catch(reportSamples),
      attempt(() => loadModel(builtinModel())),
    ]);
    booting = false;
    settleReady();
    if (address.has("benchmark") && demo.ready) await runBenchmark();
  }

  /** Show the first sample while the model loads; its boxes follow. */
  async function preview() {
    if (sampleFiles.size && !shown) await showSample(1);
  }

  function reportSamples(error) {
    recordError(`the samples do not open: ${error.message}`);
  }

  async function runBenchmark() {
    say("Benchmark: measuring…");
    const options = {
      frames: Number.parseInt(address.get("frames"), 10) || 100,
      backend: address.get("backend"),
      threads: threads(),
      firstResultMs: demo.firstResultMs,
    };
    await attempt(async () => {
      const result = await demoBenchmark.runPage(options, sampleFrame, say);
      demoBenchmark.showResult(byId("benchmark"), result);
      demo.benchmark = result;
      say("Benchmark: done.");
    });
  }

  new ResizeObserver(redraw).observe(byId("stage-frame"));
  watchErrors();
  startTheme();
  wireButtons();
  wireSettings();
  wireDrop();
  wireKeys();
  settle();
  begin();
})();
