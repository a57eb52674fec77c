import assert from "node:assert/strict";
import test from "node:test";
import { zip } from "../src/teach/zip.js";
import { crc32 } from "../src/worker/crc32.js";

const bytes = (text) => new TextEncoder().encode(text);

test("the check value of CRC-32, which its catalogues give, and an empty text's", () => {
  assert.equal(crc32(bytes("123456789")), 0xcbf43926);
  assert.equal(crc32(bytes("")), 0);
});

test("too many files are refused", () => {
  const entries = Array.from({ length: 65536 }, (_, k) => ({ name: String(k), content: "" }));
  assert.throws(() => zip(entries), RangeError);
});
