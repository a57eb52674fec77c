/** The detector, with a worker that stands in. */
import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, {
  window: globalThis,
  self: globalThis,
  location: { hash: "", search: "?threads=2" },
  crossOriginIsolated: true,
  WORKER_TEXT: "",
});
const { Detector } = await import("../src/page/detector.js");
for (const name of ["runtime-mjs", "runtime-wasm"]) {
  /** @type {any} */ (window).demoAssets.add(name, "packed");
}

/** Starts with one thread only, as Firefox does at times. */
class OneThreadWorker {
  /** @type {any[]} */
  static messages = [];
  static ended = 0;

  postMessage(message) {
    OneThreadWorker.messages.push(message);
    const answer = (data) => queueMicrotask(() => this.onmessage({ data }));
    if (message.type === "start") answer({ type: "progress", stage: "runtime" });
    if (message.threads === 2) return;
    answer({ type: "result", id: message.id, value: { names: ["a"] } });
  }

  terminate() {
    OneThreadWorker.ended += 1;
  }
}

test("where several threads do not start, one does", async () => {
  /** @type {Map<number, {task: () => void, ms: number}>} */
  const timers = new Map();
  Object.assign(globalThis, {
    Worker: OneThreadWorker,
    setTimeout: (task, ms) => timers.set(timers.size, { task, ms }).size - 1,
    clearTimeout: (id) => timers.delete(id),
  });
  const nothing = () => {};
  const detector = new Detector({ onProgress: nothing, onLost: nothing, onSlow: nothing });
  const facts = /** @type {any} */ ({});
  const loading = detector.load({ model: new Uint8Array(1), facts, backend: "wasm" });
  await new Promise(setImmediate);
  const limit = [...timers.values()].find(({ ms }) => ms === 10000);
  assert.equal(OneThreadWorker.ended, 0);
  limit?.task();
  const info = await loading;
  assert.equal(info.threads, 1);
  assert.equal(OneThreadWorker.ended, 1);
  const said = OneThreadWorker.messages.map(({ type, threads }) => [type, threads]);
  assert.deepEqual(said, [
    ["start", 2],
    ["start", 1],
    ["load", undefined],
  ]);
});

test("a detector whose worker has ended answers at once", async () => {
  const nothing = () => {};
  const detector = new Detector({ onProgress: nothing, onLost: nothing, onSlow: nothing });
  await assert.rejects(async () => detector.measure(3), { code: "runtime" });
  detector.cancel();
  await assert.rejects(async () => detector.measure(3), { code: "cancelled" });
  assert.equal(detector.busy, false);
});
