"use strict";

/**
 * The worker: it owns onnxruntime-web, and turns pictures into detections.
 *
 * Messages to it, each with an `id`:
 *   {type: "load", runtime, module, wasm, model, backend, threads}
 *   {type: "detect", bitmap, options}
 * `runtime`, `module` (Blobs of scripts) and `wasm` come with the first load only. Messages
 * from it:
 *   {type: "progress", stage, detail}, {type: "lost", reason},
 *   {type: "result", id, value}, {type: "error", id, code, message}
 *
 * The function uses nothing outside of itself, because its text becomes the worker.
 * @param {DedicatedWorkerGlobalScope} scope
 * @param {{letterbox: object, nms: object, metadata: object}} modules Made by the functions
 *   `letterboxModule`, `nmsModule` and `onnxMetadataModule`.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
function detectorWorker(scope, modules) {
  const GREY = "rgb(114, 114, 114)"; // of the padding; transparent parts get it too
  let watched = null; // the GPU device whose loss is reported
  let loaded = null; // {session, input, letterbox, postprocess, ...} of the present model

  function failure(code, message) {
    return Object.assign(new Error(message), { code });
  }

  // The runtime also throws numbers and strings.
  const messageOf = (error) => String(error?.message ?? error);

  function progress(stage, detail) {
    scope.postMessage({ type: "progress", stage, detail });
  }

  // ---------------------------------------------------------------------- pictures

  /** A function from an ImageBitmap to its RGBA pixels; it keeps its canvas. */
  function createPixelReader() {
    let canvas = null;
    let context = null;

    function prepare(width, height) {
      if (canvas === null) {
        canvas = new scope.OffscreenCanvas(width, height);
        context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
      } else if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
    }

    return (bitmap) => {
      const { width, height } = bitmap;
      try {
        prepare(width, height);
        context.fillStyle = GREY;
        context.fillRect(0, 0, width, height);
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, width, height, { colorSpace: "srgb" }).data;
      } catch (error) {
        throw failure(
          "runtime",
          `the pixels of a picture of ${width}x${height} cannot be read ` +
            `(${messageOf(error)}); try a smaller picture`,
        );
      }
    };
  }

  const readPixels = createPixelReader();

  // ---------------------------------------------------------------------- backends

  function describeAdapter(adapter) {
    const info = adapter.info ?? {};
    const words = [info.vendor, info.architecture, info.device, info.description];
    return words.filter(Boolean).join(" ") || "unnamed adapter";
  }

  function isSoftware(adapter, name) {
    // Where it is said depends on the browser's age; some only say it in the name.
    const said = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
    return said || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  }

  /** The graphics adapter, or in words why there is none. */
  async function findAdapter() {
    const gpu = scope.navigator.gpu;
    if (!gpu) {
      return { adapter: null, why: "this browser, or this address, does not offer WebGPU" };
    }
    try {
      const adapter = await gpu.requestAdapter();
      return { adapter, why: adapter ? "" : "the browser found no graphics adapter for WebGPU" };
    } catch (error) {
      return { adapter: null, why: `WebGPU does not start: ${messageOf(error)}` };
    }
  }

  /**
   * What to run on.
   * @returns {Promise<{backend: string, note: string, adapter: string}>} `note` says why WebGPU
   *   is not used, or that its adapter is a program and not a device.
   */
  async function chooseBackend(requested) {
    if (requested === "wasm") {
      return { backend: "wasm", note: "", adapter: "" };
    }
    const { adapter, why } = await findAdapter();
    if (!adapter && requested === "webgpu") {
      throw failure("no-webgpu", `${why}; choose the backend "wasm" or "auto"`);
    }
    if (!adapter) {
      return { backend: "wasm", note: why, adapter: "" };
    }
    const name = describeAdapter(adapter);
    const software = isSoftware(adapter, name);
    const slow = `WebGPU's only adapter (${name}) is a slow imitation by software`;
    if (software && requested === "auto") {
      return { backend: "wasm", note: slow, adapter: "" };
    }
    return { backend: "webgpu", note: software ? slow : "", adapter: name };
  }

  function startRuntime({ runtime, module, wasm, threads }) {
    progress("runtime", "starting onnxruntime-web");
    // A page opened from disk and its worker may not read each other's blob: addresses, so the
    // worker makes its own.
    const runtimeUrl = scope.URL.createObjectURL(runtime);
    try {
      scope.importScripts(runtimeUrl);
    } catch (error) {
      throw failure("runtime", `onnxruntime-web does not start: ${messageOf(error)}`);
    } finally {
      scope.URL.revokeObjectURL(runtimeUrl);
    }
    const { env } = scope.ort;
    env.logLevel = "error";
    env.wasm.proxy = false;
    env.wasm.numThreads = threads;
    env.wasm.wasmPaths = { mjs: scope.URL.createObjectURL(module) };
    env.wasm.wasmBinary = wasm;
  }

  async function watchDevice() {
    const device = await scope.ort.env.webgpu.device;
    if (device === watched) {
      return;
    }
    watched = device;
    device.lost.then(({ reason, message }) => {
      const words = [reason, message].filter((word) => word && word !== "unknown");
      scope.postMessage({ type: "lost", reason: words.join(": ") || "the browser gave no reason" });
    });
  }

  // ---------------------------------------------------------------------- model

  /** Lengths for the axes that the file leaves open, by their names. */
  function openAxes({ input, size }) {
    const lengths = [1, 3, ...size];
    const pairs = input.shape.map((axis, k) => [axis, lengths[k]]);
    return Object.fromEntries(pairs.filter(([axis]) => typeof axis === "string" && axis !== ""));
  }

  async function createSession(model, detector, backend) {
    progress("model", `preparing the model for ${backend}`);
    try {
      return await scope.ort.InferenceSession.create(model, {
        executionProviders: [backend],
        graphOptimizationLevel: "all",
        freeDimensionOverrides: openAxes(detector),
      });
    } catch (error) {
      const message = messageOf(error);
      if (backend === "webgpu") {
        throw failure("webgpu-failed", message);
      }
      // The same call starts the runtime, and then reads the model.
      const isRuntime = /no available backend|initWasm|out of memory/i.test(message);
      throw isRuntime
        ? failure("runtime", `onnxruntime-web does not start: ${message}`)
        : failure("model-broken", `onnxruntime-web cannot read the model: ${message}`);
    }
  }

  /** One inference of what is in `state.input`; the output's shape and numbers. */
  async function infer(state) {
    const results = await state.session.run({ [state.inputName]: state.tensor });
    const tensor = results[state.outputName];
    const output = { dims: [...tensor.dims], data: await tensor.getData() };
    return { output, release: () => tensor.dispose() };
  }

  function createState(session, detector) {
    const [size] = detector.size;
    const input = new Float32Array(3 * size * size).fill(114 / 255);
    return {
      session,
      input,
      tensor: new scope.ort.Tensor("float32", input, [1, 3, size, size]),
      inputName: detector.input.name,
      outputName: detector.output.name,
      letterbox: modules.letterbox.createLetterbox(size),
      postprocess: null,
    };
  }

  /** Run twice (the first run prepares what later ones use) and look at the result. */
  async function warmUp(state, detector, backend) {
    progress("warm-up", `first runs on ${backend}`);
    const rows = 4 + detector.names.length;
    for (let run = 0; run < 2; run++) {
      const { output, release } = await infer(state);
      const [batch, height, anchors] = output.dims;
      if (batch !== 1 || height !== rows || output.dims.length !== 3) {
        throw failure(
          "model-shape",
          `the model's output has the shape (${output.dims.join(", ")}); needed: ` +
            `(1, ${rows}, boxes) for ${detector.names.length} classes`,
        );
      }
      state.postprocess ??= modules.nms.createPostprocess(detector.names.length, anchors);
      const [size] = detector.size;
      const geometry = modules.letterbox.fit(size, size, size);
      state.postprocess.run(output.data, geometry, { confidence: 0.5, iou: 0.5 });
      release();
    }
  }

  async function prepare(message, detector, backend) {
    const begun = performance.now();
    const session = await createSession(new Uint8Array(message.model), detector, backend);
    try {
      const state = createState(session, detector);
      const ready = performance.now();
      await warmUp(state, detector, backend);
      if (backend === "webgpu") {
        await watchDevice();
      }
      return { state, createMs: ready - begun, warmupMs: performance.now() - ready };
    } catch (error) {
      await session.release();
      if (backend === "webgpu" && error.code !== "model-shape") {
        throw failure("webgpu-failed", messageOf(error));
      }
      throw error;
    }
  }

  /** Load a model; the present one stays in use if that fails. */
  async function load(message) {
    const detector = modules.metadata.readDetector(new Uint8Array(message.model));
    const choice = await chooseBackend(message.backend);
    if (!scope.ort) {
      startRuntime(message);
    }
    const { state, createMs, warmupMs } = await prepare(message, detector, choice.backend);
    // The compiled runtime stays; its file is not needed any more.
    scope.ort.env.wasm.wasmBinary = undefined;
    await loaded?.session.release();
    loaded = state;
    const { names, size, confidence, iou } = detector;
    return { ...choice, names, size, confidence, iou, createMs, warmupMs };
  }

  // ---------------------------------------------------------------------- detection

  async function detect({ bitmap, options }) {
    if (loaded === null) {
      throw failure("runtime", "no model is loaded");
    }
    const begun = performance.now();
    const pixels = readPixels(bitmap);
    const geometry = loaded.letterbox.run(pixels, bitmap.width, bitmap.height, loaded.input);
    const prepared = performance.now();
    const { output, release } = await infer(loaded);
    const inferred = performance.now();
    const detections = loaded.postprocess.run(output.data, geometry, options);
    release();
    const times = {
      pre: prepared - begun,
      inference: inferred - prepared,
      post: performance.now() - inferred,
    };
    return { detections, bitmap, times };
  }

  scope.onmessage = async ({ data }) => {
    try {
      const value = await (data.type === "load" ? load(data) : detect(data));
      scope.postMessage({ type: "result", id: data.id, value }, value.bitmap ? [value.bitmap] : []);
    } catch (error) {
      data.bitmap?.close();
      // The browser's own errors have a number there.
      const code = typeof error?.code === "string" ? error.code : "runtime";
      scope.postMessage({ type: "error", id: data.id, code, message: messageOf(error) });
    }
  };
}
