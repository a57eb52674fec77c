"use strict";

/**
 * Measures the page: one sample, many frames, each back end or several models in turn.
 *
 * A frame counts from the copy of the picture to its drawn boxes, as in the page's own loop.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoBenchmark = (() => {
  const PARTS = ["pre", "inference", "post", "loop"];
  const WARM_UP_FRAMES = 5;

  /** @param {number[]} values @param {number} share From 0 to 1. @returns {number} */
  function quantile(values, share) {
    const sorted = Float64Array.from(values).sort();
    const at = (sorted.length - 1) * share;
    const low = Math.floor(at);
    const high = Math.ceil(at);
    return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
  }

  function emptyTimes() {
    return { pre: [], inference: [], post: [], loop: [] };
  }

  /** Detect in a picture `frames` times, one frame in flight, and note each frame's times. */
  async function measure(detector, sample, frames, times) {
    const stage = new demoView.StageView(document.createElement("canvas"), document.body);
    for (let frame = 0; frame < frames; frame += 1) {
      const begun = performance.now();
      const found = await detector.detect(await createImageBitmap(sample));
      const named = found.detections.map((detection) => ({ ...detection, name: "object" }));
      stage.draw(found.bitmap, named, false);
      found.bitmap.close();
      for (const part of ["pre", "inference", "post"]) times[part].push(found.times[part]);
      times.loop.push(performance.now() - begun);
    }
    return times;
  }

  /** Median and 90th percentile of each part in ms, and frames per second of the loop. */
  function summarize(times) {
    const summary = {};
    for (const part of PARTS) {
      summary[part] = { median: quantile(times[part], 0.5), p90: quantile(times[part], 0.9) };
    }
    const total = times.loop.reduce((sum, value) => sum + value, 0);
    return { ...summary, fps: (1000 * times.loop.length) / total };
  }

  function describe(info) {
    const { backend, requested, threads, adapter, note, size, modelName, loadMs, warmupMs } = info;
    return { backend, requested, threads, adapter, note, size, modelName, loadMs, warmupMs };
  }

  async function environment() {
    const versions = demoAssets.has("versions")
      ? JSON.parse(await demoAssets.text("versions"))
      : null;
    return {
      date: new Date().toISOString(),
      protocol: location.protocol,
      userAgent: navigator.userAgent,
      crossOriginIsolated: self.crossOriginIsolated,
      hardwareConcurrency: navigator.hardwareConcurrency,
      versions,
    };
  }

  /** Load the built-in model, measure it, and end its worker. */
  async function measureBackend(backend, { frames, threads }, sample) {
    const detector = new Detector();
    try {
      const model = await demoAssets.bytes("model");
      const info = await detector.load({ model, modelName: "built-in model", backend, threads });
      // Without a graphics device "auto" falls back; wasm has a run of its own.
      if (backend === "auto" && info.backend !== "webgpu") return { unavailable: info.note };
      await measure(detector, sample, WARM_UP_FRAMES, emptyTimes());
      const times = await measure(detector, sample, frames, emptyTimes());
      return { ...describe(info), ...summarize(times) };
    } finally {
      detector.dispose();
    }
  }

  /**
   * Measure the built-in model on each back end that works.
   * @param {{frames: number, backend: string|null, threads?: number, firstResultMs: number|null}}
   *   options `backend` null means all.
   * @param {() => Promise<ImageBitmap>} sampleFrame
   * @param {(text: string) => void} say
   * @returns {Promise<object>} `runs` with medians and 90th percentiles in ms.
   */
  async function runPage(options, sampleFrame, say) {
    const sample = await sampleFrame();
    const result = {
      ...(await environment()),
      picture: { width: sample.width, height: sample.height },
      frames: options.frames,
      firstResultMs: options.firstResultMs,
      runs: [],
      unavailable: [],
    };
    // "auto" takes WebGPU only from a real graphics device.
    try {
      for (const backend of options.backend ? [options.backend] : ["auto", "wasm"]) {
        const name = backend === "auto" ? "webgpu" : backend;
        say(`Benchmark: ${options.frames} frames on ${name}…`);
        const run = await measureBackend(backend, options, sample);
        if ("unavailable" in run) result.unavailable.push({ backend: name, why: run.unavailable });
        else result.runs.push(run);
      }
    } finally {
      sample.close();
    }
    return result;
  }

  function entryOf({ name, bytes }) {
    const detector = new Detector();
    return { name, bytes, detector, info: null, times: emptyTimes(), rounds: [] };
  }

  async function loadAll(entries, { backend, threads }) {
    for (const entry of entries) {
      const { bytes, name, detector } = entry;
      entry.info = await detector.load({ model: bytes, modelName: name, backend, threads });
    }
  }

  /** Each model in turn; every second round goes backwards, so that none is always first. */
  async function alternate(loaded, { frames, rounds }, sample) {
    for (const { detector } of loaded) {
      await measure(detector, sample, WARM_UP_FRAMES, emptyTimes());
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const entry of round % 2 ? [...loaded].reverse() : loaded) {
        const times = await measure(entry.detector, sample, frames, emptyTimes());
        entry.rounds.push(quantile(times.inference, 0.5));
        for (const part of PARTS) entry.times[part].push(...times[part]);
      }
    }
  }

  /**
   * Measure several models in turn, all loaded at the same time.
   * @param {{name: string, bytes: Uint8Array}[]} models
   * @param {{frames?: number, rounds?: number, backend?: string, threads?: number}} options
   *   `frames` of each model in each round.
   * @param {() => Promise<ImageBitmap>} sampleFrame
   * @returns {Promise<object>} `models` with medians and 90th percentiles in ms;
   *   `inferenceToFirst` is each model's median inference time over the first model's.
   */
  async function compareModels(
    models,
    { frames = 20, rounds = 5, backend = "auto", threads } = {},
    sampleFrame,
  ) {
    const sample = await sampleFrame();
    const loaded = models.map(entryOf);
    try {
      await loadAll(loaded, { backend, threads });
      await alternate(loaded, { frames, rounds }, sample);
    } finally {
      for (const { detector } of loaded) detector.dispose();
      sample.close();
    }
    const measured = loaded.map(({ name, info, times, rounds: inferenceByRound }) => ({
      name,
      ...describe(info),
      ...summarize(times),
      inferenceByRound,
    }));
    const first = measured[0].inference.median;
    return {
      ...(await environment()),
      frames,
      rounds,
      models: measured,
      inferenceToFirst: measured.map(({ inference }) => inference.median / first),
    };
  }

  function add(parent, tag, text = "") {
    const node = document.createElement(tag);
    node.textContent = text;
    parent.append(node);
    return node;
  }

  function tableOf(runs) {
    const table = document.createElement("table");
    const head = add(add(table, "thead"), "tr");
    const titles = ["back end", "prepare", "inference", "boxes", "loop", "frames/s", "load"];
    for (const title of titles) add(head, "th", title).scope = "col";
    const body = add(table, "tbody");
    for (const run of runs) {
      const row = add(body, "tr");
      const threads = run.backend === "wasm" ? ` × ${run.threads}` : "";
      add(row, "td", `${run.backend}${threads}`);
      for (const part of PARTS) {
        add(row, "td", `${run[part].median.toFixed(1)} / ${run[part].p90.toFixed(1)}`);
      }
      add(row, "td", run.fps.toFixed(1));
      add(row, "td", String(Math.round(run.loadMs + run.warmupMs)));
    }
    return table;
  }

  /**
   * Show a result of `runPage` as a table and as JSON.
   * @param {HTMLElement} section
   * @param {object} result
   */
  function showResult(section, result) {
    section.replaceChildren();
    add(section, "h2", "Benchmark").id = "benchmark-title";
    const first = Math.round(result.firstResultMs ?? Number.NaN);
    add(
      section,
      "p",
      `${result.frames} frames of ${result.picture.width} × ${result.picture.height} pixels. ` +
        `Milliseconds: median / 90th percentile. First result ${first} ms after opening.`,
    ).className = "muted";
    const box = add(section, "div");
    box.className = "table-box";
    box.append(tableOf(result.runs));
    for (const { backend, why } of result.unavailable) {
      add(section, "p", `Not measured: ${backend} (${why}).`).className = "muted";
    }
    const text = add(section, "textarea", JSON.stringify(result, null, 2));
    text.readOnly = true;
    text.setAttribute("aria-label", "The benchmark's result as JSON");
    text.addEventListener("focus", () => text.select());
    section.hidden = false;
  }

  return { runPage, compareModels, showResult };
})();
