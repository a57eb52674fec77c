"use strict";

/**
 * Still pictures: those that the user or a script gives, and the samples that travel in the page.
 *
 * A picture is on the stage at once; its boxes follow when the detector has seen it.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoPictures = (() => {
  const { byId } = demoEnvironment;
  const { demo, say, settle, attempt, hideScreen } = demoStatus;
  const state = {
    images: Promise.resolve(), // pictures of scripts, one after another
    samples: new Map(), // {entry, blob} by asset name, in the order shown
  };

  /** Put a picture on the stage, at once without boxes, and detect in it. */
  async function showPicture(blob, title) {
    const isWanted = demoLive.beginOpening();
    const bitmap = await demoSources.decodePicture(blob);
    if (!isWanted()) {
      bitmap.close();
      return demo.last;
    }
    demoLoop.close();
    if (demo.info) hideScreen();
    demoStage.put(bitmap, title);
    settle();
    if (demo.info) say(`Detecting in ${title}…`);
    return demoDetection.rerun();
  }

  /**
   * Detect in a picture and show it.
   * @param {Blob|string} picture A file, or a data: address.
   * @returns {Promise<object>} As `demo.last`.
   */
  function detectImage(picture) {
    const result = state.images.then(async () => {
      await demoModel.loads;
      const blob = typeof picture === "string" ? await (await fetch(picture)).blob() : picture;
      return showPicture(blob, blob.name || "Picture");
    });
    state.images = result.catch(() => {});
    return result;
  }

  // ------------------------------------------------------------------------ samples

  async function sampleFile(entry) {
    const bytes = await demoAssets.bytes(entry.asset);
    return new Blob([bytes], { type: entry.type });
  }

  function showRow(any) {
    byId("samples").hidden = !any;
    byId("samples-title").hidden = !any;
  }

  /** Unpack the samples and make their buttons. */
  async function fillSamples() {
    const any = demoAssets.has("samples");
    showRow(any);
    if (!any) return;
    const entries = JSON.parse(await demoAssets.text("samples"));
    await Promise.all(
      entries.map(async (entry) => {
        state.samples.set(entry.asset, { entry, blob: null });
        state.samples.get(entry.asset).blob = await sampleFile(entry);
      }),
    );
    [...state.samples.values()].forEach(({ entry, blob }, index) => {
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

  /** @param {number} number From 1; without such a sample nothing happens. */
  async function showSample(number) {
    const sample = [...state.samples.values()][number - 1];
    if (!sample) return;
    const result = showPicture(sample.blob, `Sample: ${sample.entry.title}`);
    for (const button of byId("samples").children) {
      button.setAttribute("aria-pressed", String(button.dataset.sample === String(number)));
    }
    await result;
  }

  /** Show the first sample while the model loads; its boxes follow. */
  async function preview() {
    if (state.samples.size && !demoStage.shown) await showSample(1);
  }

  /** @returns {Promise<ImageBitmap>} The first sample, for the benchmark. */
  async function sampleFrame() {
    const [sample] = state.samples.values();
    if (!sample) throw new Error("the benchmark needs the page's samples; build the page again");
    return demoSources.decodePicture(sample.blob);
  }

  return {
    showPicture,
    detectImage,
    fillSamples,
    hideSamples: () => showRow(false),
    showSample,
    preview,
    sampleFrame,
  };
})();
