import assert from "node:assert/strict";
import { test } from "node:test";
import { readSettings, writeSettings } from "../src/page/address.js";

const NAMES = ["person", "cell phone", "a, b & c=d", "חתול"];

/** What is read of an address, of a model with these names. */
const read = (text) => readSettings(new URLSearchParams(text), NAMES);

test("settings that are written are read again", () => {
  const settings = {
    confidence: 0.4,
    iou: 0.55,
    backend: "wasm",
    threads: 2,
    far: true,
    count: true,
    line: { a: { x: 0.125, y: 0 }, b: { x: 1, y: 0.5 } },
    off: NAMES.slice(1),
  };
  assert.deepEqual(read(writeSettings(settings)), { settings, bad: [] });
  assert.equal(writeSettings({ confidence: 0.4, threads: undefined, off: [] }), "confidence=0.4");
  assert.deepEqual(read(""), { settings: {}, bad: [] });
});

test("values that do not do are named and left out", () => {
  const said = {
    "confidence=7": "confidence=7 (needed: a number from 0.01 to 0.99)",
    "confidence=": "confidence= (needed: a number from 0.01 to 0.99)",
    "iou=much": "iou=much (needed: a number from 0.01 to 0.99)",
    "backend=cuda": "backend=cuda (needed: auto, webgpu or wasm)",
    "threads=1.5": "threads=1.5 (needed: a whole number from 1 to 99)",
    "count=yes": "count=yes (needed: 0 or 1)",
    "line=0,0,1": "line=0,0,1 (needed: four numbers from 0 to 1)",
    "line=0,0,1,2": "line=0,0,1,2 (needed: four numbers from 0 to 1)",
    "off=cat": "off=cat (the model has no such class)",
    "constructor=1": "constructor=1 (no such setting)",
    "count=constructor": "count=constructor (needed: 0 or 1)",
  };
  for (const [text, message] of Object.entries(said)) {
    const { settings, bad } = read(`${text}&iou=0.5`.replace(/^(iou=much)&.*/, "$1"));
    assert.deepEqual(bad, [message]);
    assert.ok(
      Object.values(settings).every((value) => value === 0.5 || value.length === 0),
      text,
    );
  }
  assert.ok(read(`x=${"y".repeat(500)}`).bad[0].length < 100);
});

test("of two values the first one counts, and good ones are kept next to bad ones", () => {
  const { settings, bad } = read("confidence=0.3&off=cat&off=person&confidence=0.6&what=1");
  assert.deepEqual(settings, { confidence: 0.3, off: ["person"] });
  assert.equal(bad.length, 2);
});
