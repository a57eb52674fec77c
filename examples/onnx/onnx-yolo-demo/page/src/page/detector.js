/**
 * A detector in a worker of its own, so that the page stays responsive.
 *
 * Errors have a `.code`: "model-broken", "model-refused", "model-shape", "webgpu-failed", "runtime",
 * "assets-missing", "device-lost", "busy", "cancelled".
 *
 * @import {Checked, Reference} from "../worker/check.js"
 * @import {Facts} from "../worker/onnx_read.js"
 * @import {Detection} from "../worker/nms.js"
 * @import {Reading} from "../worker/pixels.js"
 */

import { failure } from "../worker/failure.js";
import { packedText } from "./assets.js";
import { threadCount } from "./environment.js";

/**
 * @typedef {object} Info What is known of a loaded model.
 * @property {number[]} size [height, width] of the input in pixels.
 * @property {string[]} names Of the classes.
 * @property {string} layout Of the output; see outputs.js.
 * @property {number[]} thresholds What the scores of each class have to exceed.
 * @property {number} iou
 * @property {number} threads Of the runtime.
 * @property {Checked|null} checked How WebGPU was checked; null on WebAssembly.
 */

/** @typedef {{pre: number, inference: number, post: number}} Times In milliseconds. */

const LONG_MS = 1000; // what takes longer, the user may want to end
// In Firefox several threads come to no start now and then, after a reload; one does.
const START_PATIENCE_MS = 10000;

export class Detector {
  #onProgress;
  #onLost;
  #onSlow;
  #onChangedPixels;
  #onChecked;
  /** @type {Worker|null} */
  #worker = null;
  #programUrl = "";
  /** @type {{id: number, resolve: (value: any) => void, reject: (error: Error) => void}|null} */
  #pending = null;
  #calls = 0;
  /** Whether a call has lasted so long that the user may want to end it. */
  slow = false;
  #backend = ""; // of the worker's runtime
  #threads = threadCount();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #startTimer; // until it has started
  /** @type {Promise<unknown>|null} */
  #runtime = null;
  /**
   * What the worker said of the browser when it started.
   * @type {{reading: Reading, canvasIsExact: boolean, runtime: string}|null}
   */
  found = null;
  /** Whether there is a model to detect with. */
  loaded = false;
  #reason = { code: "runtime", message: "no model is loaded" }; // why there is none

  /**
   * @param {object} handlers
   * @param {(stage: string) => void} handlers.onProgress Stages of `load`, in this order:
   *   "decoding", "runtime", "model", "warm-up", "compare"; the first two are `prepare`'s.
   * @param {(reason: string, isWrong: boolean) => void} handlers.onLost The graphics device is gone,
   *   or has begun to compute wrongly; the detector then has to be loaded.
   * @param {() => void} handlers.onSlow Called when `slow` has changed.
   * @param {() => void} [handlers.onChangedPixels] Called if the browser changes what is read from
   *   pictures, in every way that there is to read them.
   * @param {(checked: Checked) => void} [handlers.onChecked] WebGPU was checked again.
   */
  constructor({ onProgress, onLost, onSlow, onChangedPixels = () => {}, onChecked = () => {} }) {
    this.#onProgress = onProgress;
    this.#onLost = onLost;
    this.#onSlow = onSlow;
    this.#onChangedPixels = onChangedPixels;
    this.#onChecked = onChecked;
  }

  /** Start a worker's program, which takes time, before its runtime is in the page. */
  open() {
    if (!this.#worker) this.#startWorker();
  }

  /**
   * Start a worker with a back end's runtime, unless it is there; `load` need not wait for it then.
   * @param {string} backend "webgpu" or "wasm", whose runtime is in the page.
   * @returns {Promise<unknown>}
   */
  prepare(backend) {
    if (this.#runtime !== null && this.#backend !== backend) {
      this.#stop("runtime", "another runtime was wanted");
    }
    if (this.#runtime === null) {
      this.#backend = backend;
      this.#runtime = this.#startRuntime(backend);
    }
    return this.#runtime;
  }

  /**
   * Load a model and run it once. If that fails for the model's own fault, the model that was
   * loaded before stays in use, if it had the same back end.
   * @param {object} options
   * @param {Uint8Array} options.model An ONNX file; it is copied.
   * @param {Facts} options.facts
   * @param {string} options.backend As of `prepare`.
   * @param {Uint8Array} [options.graph] The model's graph as it was optimized before, for wasm; its
   *   weights are in `model`.
   * @param {boolean} [options.tried] Whether it is known to work; the first run is then left out.
   * @param {Blob} [options.sample] The picture that WebGPU is checked with.
   * @param {Reference} [options.reference] What it has to give; else what WebAssembly gives.
   * @returns {Promise<Info>}
   */
  async load({ model, facts, backend, graph, tried = false, sample, reference }) {
    await this.prepare(backend);
    const copy = model.slice().buffer;
    try {
      const how = { facts, backend, graph, tried, sample, reference };
      const info = await this.#call({ type: "load", model: copy, ...how }, [copy]);
      this.loaded = true;
      return { ...info, threads: this.#threads };
    } catch (error) {
      const { code, message } = /** @type {Error & {code: string}} */ (error);
      // After such a failure the runtime in the worker may be unusable.
      if (!this.loaded || code === "webgpu-failed") this.#stop(code, message);
      throw error;
    }
  }

  /**
   * @param {number} frames
   * @param {number} [patience] Milliseconds until the detector is called slow.
   * @returns {Promise<number>} Milliseconds of one inference, the median of `frames`.
   */
  measure(frames, patience) {
    return this.#call({ type: "measure", frames }, [], patience);
  }

  /**
   * @param {ImageBitmap} bitmap Transferred to the worker.
   * @returns {Promise<{pixels: number}>} The CRC-32 of its pixels, RGBA.
   */
  fingerprint(bitmap) {
    return this.#call({ type: "fingerprint", bitmap }, [bitmap]);
  }

  /**
   * Find objects in a picture.
   * @param {ImageBitmap} bitmap Transferred to the worker and back; closed if this fails.
   * @param {{confidence: number[], iou: number, enabled: number[]|null}} options See nms.js.
   * @returns {Promise<{detections: Detection[], bitmap: ImageBitmap, times: Times, cold: boolean}>}
   *   `cold`: it was the model's first run, which takes longer.
   */
  async detect(bitmap, options) {
    if (!this.loaded) {
      bitmap.close();
      throw failure(this.#reason.code, this.#reason.message);
    }
    return this.#call({ type: "detect", bitmap, options }, [bitmap]);
  }

  /**
   * Have the worker do a part of a lesson.
   * @param {{type: string}} message See teaching.js.
   * @returns {Promise<any>}
   */
  async teach(message) {
    if (!this.loaded) throw failure(this.#reason.code, this.#reason.message);
    return this.#call(message, [], Number.POSITIVE_INFINITY);
  }

  /** Whether the worker is at something. */
  get busy() {
    return this.#pending !== null;
  }

  /** End what the worker is at; it is rejected with "cancelled", and a model has to be loaded. */
  cancel() {
    this.#stop("cancelled", "it was stopped");
  }

  // ------------------------------------------------------------------------ loading

  /** @returns {Promise<unknown>} */
  async #startRuntime(backend) {
    this.#onProgress("decoding");
    const runtime = backend === "webgpu" ? "webgpu" : "runtime";
    const message = {
      type: "start",
      module: packedText(`${runtime}-mjs`),
      wasm: packedText(`${runtime}-wasm`),
      threads: this.#threads,
      backend,
    };
    this.open();
    try {
      this.found = await this.#call(message, []);
      if (this.found?.reading === "changed") this.#onChangedPixels();
      return undefined;
    } catch (error) {
      const { code, message: text } = /** @type {Error & {code: string}} */ (error);
      if (code === "no-threads") {
        this.#threads = 1;
        return this.#startRuntime(backend);
      }
      // It may have stopped half-way; the next one starts from the beginning.
      this.#stop(code, text);
      throw error;
    }
  }

  // ------------------------------------------------------------------------ worker

  #startWorker() {
    // Pages opened from disk may not start a worker from a file.
    this.#programUrl = URL.createObjectURL(new Blob([WORKER_TEXT], { type: "text/javascript" }));
    const worker = new Worker(this.#programUrl, { name: "detector" });
    // A worker that was ended may have left messages behind.
    const ifPresent = (handle) => (event) => worker === this.#worker && handle(event);
    worker.onmessage = ifPresent(({ data }) => this.#receive(data));
    worker.onerror = ifPresent((event) => {
      event.preventDefault();
      this.#stop("runtime", `the detector's worker failed: ${event.message ?? "it cannot start"}`);
    });
    this.#worker = worker;
  }

  /** End the worker; later calls are rejected with this code and message. */
  #stop(code, message) {
    this.#runtime = null;
    this.loaded = false;
    this.#reason = { code, message };
    this.#endWorker(code, message);
  }

  #endWorker(code, message) {
    clearTimeout(this.#startTimer);
    this.#worker?.terminate();
    this.#worker = null;
    URL.revokeObjectURL(this.#programUrl);
    this.#pending?.reject(failure(code, message));
    this.#pending = null;
    this.#setSlow(false);
  }

  /** @returns {Promise<any>} The worker's answer; if it takes longer than `patience`, it is slow. */
  #call(message, transfer, patience = LONG_MS) {
    if (this.#pending !== null) throw failure("busy", "the detector is at work; wait for it");
    const worker = this.#worker;
    if (worker === null) throw failure(this.#reason.code, this.#reason.message);
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      worker.postMessage({ ...message, id }, transfer); // throws for a closed bitmap
      this.#pending = { id, resolve, reject };
      if (patience === Number.POSITIVE_INFINITY) return;
      setTimeout(() => this.#pending?.id === id && this.#setSlow(true), patience);
    });
  }

  #setSlow(slow) {
    if (slow === this.slow) return;
    this.slow = slow;
    this.#onSlow();
  }

  #receive(data) {
    if (data.type === "progress") {
      this.#onProgress(data.stage);
      if (data.stage === "runtime" && this.#threads > 1) {
        const text = "several threads do not start";
        this.#startTimer = setTimeout(() => this.#endWorker("no-threads", text), START_PATIENCE_MS);
      }
    } else if (data.type === "lost") {
      const what = data.isWrong ? "WebGPU computes wrongly" : "the graphics device is gone";
      this.#stop("device-lost", `${what} (${data.reason})`);
      this.#onLost(data.reason, data.isWrong === true);
    } else if (data.type === "checked") {
      this.#onChecked(data.checked);
    } else if (this.#pending !== null && this.#pending.id === data.id) {
      const { resolve, reject } = this.#pending;
      this.#pending = null;
      clearTimeout(this.#startTimer);
      this.#setSlow(false);
      if (data.type === "result") resolve(data.value);
      else reject(failure(data.code, data.message));
    }
  }
}
