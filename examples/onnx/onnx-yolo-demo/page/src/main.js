"use strict";

/**
 * The beginning: what the page gives to scripts, the first load, the first sample, a benchmark.
 *
 * The last of the page's scripts. Each of those before it uses only earlier ones, in the order in
 * which the page names them; they are plain scripts because browsers load no modules from disk.
 */
(() => {
  const { address, byId } = demoEnvironment;
  const { demo, say, attempt, recordError } = demoStatus;
  const NEEDED_ASSETS = ["runtime", "runtime-module", "wasm", "model"];

  window.demo = Object.assign(demo, {
    detectImage: demoPictures.detectImage,
    loadModel: demoLoading.loadFile,
    benchmarkModels: (models, options) =>
      demoBenchmark.compareModels(models, options, demoPictures.sampleFrame),
  });

  /** Why the page can't work here, as a screen and its detail; null if it can. */
  function whyNotAtAll() {
    const lacking = demoEnvironment.missingFeatures();
    if (lacking.length) return ["no-script-support", `It lacks ${lacking.join(", ")}.`];
    const missing = NEEDED_ASSETS.filter((name) => !demoAssets.has(name));
    if (missing.length) return ["no-assets", `Missing: ${missing.join(", ")}.`];
    return null;
  }

  async function begin() {
    const obstacle = whyNotAtAll();
    if (obstacle) {
      byId("loading").hidden = true;
      demoPictures.hideSamples();
      demoStatus.showScreen(obstacle[0], { detail: obstacle[1] });
      return;
    }
    const backend = address.get("backend");
    if (["webgpu", "wasm"].includes(backend)) byId("backend").value = backend;
    await demoModel.readBuiltinFacts();
    const samples = demoPictures.fillSamples();
    await Promise.all([
      samples.then(demoPictures.preview).catch(reportSamples),
      attempt(demoLoading.loadBuiltin),
    ]);
    demoStatus.set({ booting: false });
    demoStatus.settleReady();
    if (address.has("benchmark") && demo.ready) await runBenchmark();
  }

  function reportSamples(error) {
    recordError(`the samples do not open: ${error.message}`);
  }

  async function runBenchmark() {
    say("Benchmark: measuring…");
    const options = {
      frames: Number.parseInt(address.get("frames"), 10) || 100,
      backend: address.get("backend"),
      threads: demoEnvironment.wantedThreads(),
      firstResultMs: demo.firstResultMs,
    };
    await attempt(async () => {
      const result = await demoBenchmark.runPage(options, demoPictures.sampleFrame, say);
      demoBenchmark.showResult(byId("benchmark"), result);
      demo.benchmark = result;
      say("Benchmark: done.");
    });
  }

  demoStage.watchSize();
  demoStatus.watchErrors();
  demoTheme.start();
  demoControls.wire();
  demoStatus.settle();
  begin();
})();
