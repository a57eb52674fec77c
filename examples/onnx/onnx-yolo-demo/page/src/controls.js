"use strict";

/**
 * The user's hands: buttons, lists, keys, dropped and pasted files, and which buttons are alive.
 *
 * It only says which part does what; the parts know nothing of buttons. What fails becomes a
 * message screen, whose buttons are wired here, too.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoControls = (() => {
  const { byId } = demoEnvironment;
  const { demo, attempt, hideScreen } = demoStatus;
  const { loadBuiltin, loadFile, chooseBackend } = demoLoading;
  const showHelp = () => byId("help").showModal();

  const KEYS = {
    " ": () => (demoStatus.running ? demoLive.stop() : demoLive.start()),
    ".": demoLive.step,
    s: demoSaving.saveSnapshot,
    S: demoSaving.saveSnapshot,
    "?": showHelp,
  };

  // ------------------------------------------------------------------------ buttons

  /** Bring buttons to life or make them dead, as the page's state is. */
  function showState() {
    const focused = document.activeElement;
    const { running } = demoStatus;
    const model = demoModel.current;
    const kind = demoLoop.source?.kind;
    byId("start").disabled = !demo.ready || running;
    byId("stop").disabled = !running && kind !== "camera";
    byId("step").disabled = !demo.ready;
    byId("snapshot").disabled = demoStage.shown === null;
    byId("save-json").disabled = demo.last === null;
    byId("model-builtin").disabled = model === null || model.builtin;
    byId("live-badge").hidden = !(running && kind === "camera");
    demoView.setText(byId("start-text"), kind === "video" ? "Play video" : "Start camera");
    // A button that goes dead must not take the keyboard's place with it.
    if (focused?.disabled) byId(focused.id === "start" ? "stop" : "start").focus();
  }

  const usesBuiltin = () => demo.info !== null && demoModel.current.builtin;

  /** Do what a message's button says. @param {string} action */
  function act(action) {
    const actions = {
      reload: () => location.reload(),
      dismiss: () => (demo.info ? hideScreen() : attempt(() => chooseBackend("auto"))),
      "retry-camera": () => attempt(demoLive.startCamera),
      "open-picture": () => byId("image-file").click(),
      "open-model": () => byId("model-file").click(),
      "show-sample": () => attempt(() => demoPictures.showSample(1)),
      "use-wasm": () => attempt(() => chooseBackend("wasm")),
      "builtin-model": () => (usesBuiltin() ? hideScreen() : attempt(loadBuiltin)),
      "reload-model": () => attempt(() => chooseBackend(byId("backend").value)),
    };
    return actions[action]();
  }

  function onClick(id, task) {
    byId(id).addEventListener("click", () => attempt(task));
  }

  function wireButtons() {
    onClick("start", demoLive.start);
    onClick("stop", demoLive.stop);
    onClick("step", demoLive.step);
    onClick("snapshot", demoSaving.saveSnapshot);
    onClick("save-json", demoSaving.saveJson);
    onClick("model-builtin", loadBuiltin);
    onClick("help-open", showHelp);
    onClick("help-close", () => byId("help").close());
    onClick("theme", demoTheme.toggle);
  }

  // ------------------------------------------------------------------------ choices

  function onChange(id, task) {
    byId(id).addEventListener("change", ({ target }) => attempt(() => task(target)));
  }

  function wireChoices() {
    demoSettings.wire(() => attempt(demoDetection.rerun));
    onChange("backend", ({ value }) => chooseBackend(value));
    onChange("mirror", ({ checked }) => demoLive.changeMirror(checked));
    onChange("camera-select", ({ value }) => demoLive.changeCamera(value));
    navigator.mediaDevices?.addEventListener?.("devicechange", () =>
      demoLive.fillCameras(byId("camera-select").value),
    );
  }

  // ------------------------------------------------------------------------ files

  /** Open whatever a file is. */
  async function openFile(file) {
    const kind = demoSources.fileKind(file);
    if (kind === "model") return loadFile(file);
    if (kind === "picture") return demoPictures.showPicture(file, file.name || "Picture");
    if (kind === "video") return demoLive.startVideo(file);
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

  function wireFiles() {
    onFile("image-file", (file) => demoPictures.showPicture(file, file.name));
    onFile("video-file", demoLive.startVideo);
    onFile("model-file", (file) => loadFile(file));
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
  }

  function wirePaste() {
    document.addEventListener("paste", (event) => {
      const file = event.clipboardData?.files[0];
      if (!file) return;
      event.preventDefault();
      attempt(() => openFile(file));
    });
  }

  // ------------------------------------------------------------------------ keys

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

  /** Connect everything that the user can touch. */
  function wire() {
    demoStatus.connect({ onState: showState, onAction: act });
    wireButtons();
    wireChoices();
    wireFiles();
    wireDrop();
    wirePaste();
    wireKeys();
  }

  return { wire };
})();
