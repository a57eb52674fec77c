"use strict";

/**
 * A detector in a worker of its own, so that the page stays responsive.
 *
 * Errors have a `.code`: "model-broken", "model-shape", "no-webgpu", "runtime",
 * "assets-missing", "device-lost", "busy".
 *
 *     const detector = new Detector({ onProgress: ({ stage, detail }) => … });
 *     detector.onLost = (reason) => …;
 *     const info = await detector.load({ model, modelName: "mine.onnx", backend: "auto" });
 *     const { detections, bitmap, times } = await detector.detect(bitmap, { confidence: 0.25 });
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
class Detector {
  #onProgress;
  #worker = null;
  #programUrl = "";
  #threads = 0; // of the present worker
  #pending = null; // {id, resolve, reject} of the call in flight
  #calls = 0;
  #loading = false;
  #info = null; // of the present model
  #reason = null; // why there is no worker, as an error's {code, message}
  #disposals = 0;

  /** Called with a text when the graphics device is gone; the detector then has to be loaded. */
  onLost = null;

  /**
   * @param {object} [options]
   * @param {function({stage: string, detail: string}): void} [options.onProgress] Stages of
   *   `load`, in this order: "decoding", "runtime", "model", "warm-up". "decoding" and
   *   "runtime" are left out when a second model is loaded.
   */
  constructor({ onProgress = () => {} } = {}) {
    this.#onProgress = onProgress;
  }

  /** Whether there is a model to detect with. */
  get loaded() {
    return this.#info !== null;
  }

  /**
   * Load a model and run it twice. If that fails for the model's own fault, the model that was
   * loaded before stays in use.
   * @param {object} options
   * @param {Uint8Array} options.model An ONNX file; it is copied.
   * @param {string} options.modelName
   * @param {"auto"|"webgpu"|"wasm"} [options.backend] "auto" takes WebGPU if there is a
   *   graphics device and it works, else wasm.
   * @param {number} [options.threads] Of wasm; only where the page is cross-origin isolated.
   *   By default the processor's, at most 4.
   * @returns {Promise<{backend: string, requested: string, note: string, threads: number,
   *   adapter: string, size: number[], names: string[], confidence: number, iou: number,
   *   modelName: string, loadMs: number, warmupMs: number}>} `backend` is what really runs,
   *   `note` says why it is not WebGPU, `size` is [height, width] in pixels.
   */
  async load({ model, modelName, backend = "auto", threads }) {
    if (this.#loading || this.#pending !== null) {
      throw Detector.#error("busy", "the detector is at work; wait for it");
    }
    if (!["auto", "webgpu", "wasm"].includes(backend)) {
      throw Detector.#error("runtime", `there is no backend "${backend}": auto, webgpu, wasm`);
    }
    this.#loading = true;
    try {
      const begun = performance.now();
      const found = await this.#loadOrFallBack(model, backend, Detector.#threadCount(threads));
      const { createMs, ...info } = found;
      this.#info = {
        ...info,
        requested: backend,
        threads: this.#threads,
        modelName,
        loadMs: performance.now() - begun - info.warmupMs,
      };
      return { ...this.#info };
    } finally {
      this.#loading = false;
    }
  }

  /**
   * Find objects in a picture.
   * @param {ImageBitmap} bitmap Transferred to the worker and back; closed if this fails.
   * @param {object} [options]
   * @param {number} [options.confidence] Scores must be above it; the model's own by default.
   * @param {number} [options.iou] Of two boxes of a class that overlap by more, the one with
   *   the lower score goes; the model's own by default.
   * @param {number[]|null} [options.enabled] Class ids to report; null means all.
   * @returns {Promise<{detections: {x1: number, y1: number, x2: number, y2: number,
   *   score: number, classId: number}[], bitmap: ImageBitmap,
   *   times: {pre: number, inference: number, post: number}}>} Boxes in pixels of the picture,
   *   by falling score; times in milliseconds.
   */
  async detect(bitmap, { confidence, iou, enabled = null } = {}) {
    const obstacle = this.#obstacle();
    if (obstacle !== null) {
      bitmap.close();
      throw Detector.#error(obstacle.code, obstacle.message);
    }
    const options = {
      confidence: confidence ?? this.#info.confidence,
      iou: iou ?? this.#info.iou,
      enabled,
    };
    return this.#call({ type: "detect", bitmap, options }, [bitmap]);
  }

  /** End the worker; a call in flight is rejected. The detector may be loaded again. */
  dispose() {
    this.#disposals++;
    this.#stop("runtime", "the detector was disposed of");
  }

  /** Why no picture can be taken now, as {code, message}; null if one can. */
  #obstacle() {
    if (this.#loading || this.#pending !== null) {
      return { code: "busy", message: "the detector is at work; wait for it" };
    }
    if (this.#info === null) {
      return this.#reason ?? { code: "runtime", message: "no model is loaded" };
    }
    return null;
  }

  static #error(code, message) {
    return Object.assign(new Error(message), { code });
  }

  static #threadCount(wanted) {
    if (!self.crossOriginIsolated) {
      return 1;
    }
    return wanted ?? Math.min(4, navigator.hardwareConcurrency);
  }

  // ------------------------------------------------------------------------ loading

  async #loadOrFallBack(model, backend, threads) {
    try {
      return await this.#loadOnce(model, backend, threads);
    } catch (error) {
      if (error.code !== "webgpu-failed") {
        throw error;
      }
      const failed = `WebGPU failed: ${error.message}`;
      // After such a failure the runtime in the worker may be unusable.
      this.#stop("runtime", failed);
      if (backend !== "auto") {
        throw Detector.#error("no-webgpu", `${failed}; choose the backend "wasm" or "auto"`);
      }
      return { ...(await this.#loadOnce(model, "wasm", threads)), note: failed };
    }
  }

  async #loadOnce(model, backend, threads) {
    if (this.#worker !== null && this.#threads !== threads) {
      this.#stop("runtime", "the number of threads changed");
    }
    const disposals = this.#disposals;
    const fresh = this.#worker === null;
    const files = fresh ? await Detector.#runtimeFiles(this.#onProgress) : {};
    const copy = model.slice().buffer;
    const transfer = fresh ? [copy, files.wasm] : [copy];
    try {
      if (disposals !== this.#disposals) {
        throw Detector.#error("runtime", "the detector was disposed of");
      }
      if (fresh) {
        this.#start(threads);
      }
      return await this.#call({ type: "load", model: copy, backend, threads, ...files }, transfer);
    } catch (error) {
      if (fresh) {
        // It may have stopped half-way; the next load starts from the beginning.
        this.#stop(error.code, error.message);
      }
      throw error;
    }
  }

  static async #runtimeFiles(onProgress) {
    onProgress({ stage: "decoding", detail: "unpacking onnxruntime-web" });
    const [runtime, module, wasm] = await Promise.all([
      demoAssets.bytes("runtime"),
      demoAssets.bytes("runtime-module"),
      demoAssets.bytes("wasm"),
    ]);
    const script = (bytes) => new Blob([bytes], { type: "text/javascript" });
    return { runtime: script(runtime), module: script(module), wasm: wasm.buffer };
  }

  // ------------------------------------------------------------------------ worker

  /** The worker's program: pages opened from disk may not start a worker from a file. */
  static #program() {
    const modules = { letterbox: letterboxModule, nms: nmsModule, metadata: onnxMetadataModule };
    const made = Object.entries(modules).map(([name, factory]) => `${name}: (${factory})()`);
    return `"use strict";\n(${detectorWorker})(self, {${made.join(",\n")}});\n`;
  }

  #start(threads) {
    const program = new Blob([Detector.#program()], { type: "text/javascript" });
    this.#programUrl = URL.createObjectURL(program);
    const worker = new Worker(this.#programUrl, { name: "detector" });
    // A worker that was ended may have left messages behind.
    const ifPresent = (handle) => (event) => worker === this.#worker && handle(event);
    worker.onmessage = ifPresent(({ data }) => this.#receive(data));
    worker.onerror = ifPresent((event) => {
      event.preventDefault();
      this.#stop("runtime", `the detector's worker failed: ${event.message ?? "it cannot start"}`);
    });
    worker.onmessageerror = ifPresent(() => {
      this.#stop("runtime", "a message of the detector's worker cannot be read");
    });
    this.#worker = worker;
    this.#threads = threads;
    this.#reason = null;
  }

  /** End the worker; later calls are rejected with this code and message. */
  #stop(code, message) {
    this.#worker?.terminate();
    this.#worker = null;
    URL.revokeObjectURL(this.#programUrl);
    this.#info = null;
    this.#reason = { code, message };
    const pending = this.#pending;
    this.#pending = null;
    pending?.reject(Detector.#error(code, message));
  }

  #call(message, transfer) {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      try {
        this.#worker.postMessage({ ...message, id }, transfer);
      } catch (error) {
        this.#pending = null;
        reject(Detector.#error("runtime", `cannot be sent to the worker: ${error.message}`));
      }
    });
  }

  #receive(data) {
    if (data.type === "progress") {
      this.#onProgress({ stage: data.stage, detail: data.detail });
    } else if (data.type === "lost") {
      this.#stop("device-lost", `the graphics device is gone (${data.reason})`);
      this.onLost?.(data.reason);
    } else if (data.id === this.#pending?.id) {
      const { resolve, reject } = this.#pending;
      this.#pending = null;
      if (data.type === "result") {
        resolve(data.value);
      } else {
        reject(Detector.#error(data.code, data.message));
      }
    }
  }
}
