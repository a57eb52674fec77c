import assert from "node:assert/strict";
import test from "node:test";
import { dataSet, divide, labelsOf } from "../src/teach/data.js";

const box = (label) => ({ x1: 10, y1: 20, x2: 50, y2: 60, label });
const frame = (...labels) => ({
  title: "",
  bitmap: { width: 100, height: 80 },
  file: new Blob(["?"], { type: "image/jpeg" }),
  boxes: labels.map(box),
});

test("labels in the order in which they came up", () => {
  assert.deepEqual(labelsOf([frame("b"), frame(), frame("a", "b")]), ["b", "a"]);
});

test("each fifth frame is for validation only where that leaves every class in both parts", () => {
  const frames = Array.from({ length: 10 }, () => frame("mug"));
  const { train, val, divided } = divide(frames);
  assert.deepEqual([train.length, val], [8, [frames[4], frames[9]]]);
  assert.ok(divided);
  assert.equal(divide(frames.slice(0, 9)).divided, false, "few frames");
  const rare = [frame("spoon", "mug"), ...frames.slice(1)];
  assert.deepEqual(divide(rare), { train: rare, val: rare, divided: false });
});

test("files of the data set", async () => {
  const entries = await dataSet([frame("it's"), frame()]);
  const texts = Object.fromEntries(entries.map(({ name, content }) => [name, content]));
  assert.equal(texts["labels/train/frame-0001.txt"], "0 0.3000000 0.5000000 0.4000000 0.5000000\n");
  assert.equal(texts["labels/train/frame-0002.txt"], "");
  assert.ok(texts["images/train/frame-0001.jpg"] instanceof Uint8Array);
  assert.match(
    texts["data.yaml"],
    /^train: images\/train\nval: images\/train\nnames: \["it's"\]$/m,
  );
  assert.ok(texts["README.txt"].includes(`--classes 'it'"'"'s'`), "quoted for a shell");
  assert.ok(texts["README.txt"].includes("All pictures are for training and for validation"));
});
