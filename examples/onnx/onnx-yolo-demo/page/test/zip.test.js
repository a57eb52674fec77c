import assert from "node:assert/strict";
import test from "node:test";
import { zip } from "../src/teach/zip.js";
import { crc32 } from "../src/worker/crc32.js";

const bytes = (text) => new TextEncoder().encode(text);
const WHEN = new Date(2024, 1, 29, 13, 37, 58);

test("the check value of CRC-32, which its catalogues give, and an empty text's", () => {
  assert.equal(crc32(bytes("123456789")), 0xcbf43926);
  assert.equal(crc32(bytes("")), 0);
});

test("headers lead to the contents, and the end to the headers", async () => {
  const content = Uint8Array.of(0, 255, 80, 75);
  const names = ["a/b.bin", "חתול.txt"];
  const file = zip(
    [
      { name: names[0], content },
      { name: names[1], content: "ü\n" },
    ],
    WHEN,
  );
  const data = new Uint8Array(await file.arrayBuffer());
  const view = new DataView(data.buffer);
  const end = data.length - 22;
  assert.equal(view.getUint32(end, true), 0x06054b50);
  assert.equal(view.getUint16(end + 10, true), 2);
  let at = view.getUint32(end + 16, true);
  assert.equal(at + view.getUint32(end + 12, true), end);
  for (const [index, stored] of [content, bytes("ü\n")].entries()) {
    assert.equal(view.getUint32(at, true), 0x02014b50);
    assert.equal(view.getUint16(at + 8, true), 0x0800);
    assert.equal(view.getUint16(at + 12, true), (13 << 11) | (37 << 5) | 29);
    assert.equal(view.getUint16(at + 14, true), (44 << 9) | (2 << 5) | 29);
    assert.equal(view.getUint32(at + 16, true), crc32(stored));
    const name = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    assert.deepEqual(data.slice(at + 46, at + 46 + name), bytes(names[index]));
    // What both headers have in common: from the version to the extra field.
    assert.deepEqual(data.slice(local + 4, local + 30), data.slice(at + 6, at + 32));
    assert.deepEqual(data.slice(local + 30, local + 30 + name), bytes(names[index]));
    const start = local + 30 + name;
    assert.deepEqual(data.slice(start, start + stored.length), stored);
    at += 46 + name;
  }
});

test("too many files are refused", () => {
  const entries = Array.from({ length: 65536 }, (_, k) => ({ name: String(k), content: "" }));
  assert.throws(() => zip(entries), RangeError);
});
