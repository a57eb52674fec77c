/** Which films are whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhole } from "../src/page/webm.js";

const part = (id, body, length = [0x40 | (body.length >> 8), body.length & 255]) => [
  ...id,
  ...length,
  ...body,
];
const SEGMENT = [0x18, 0x53, 0x80, 0x67];
const CLUSTER = [0x1f, 0x43, 0xb6, 0x75];
const UNKNOWN = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]; // a length that is told later
const head = part([0x1a, 0x45, 0xdf, 0xa3], [0x42, 0x82, 0x81, 0x77], [0x84]);
const cluster = (length) => [
  ...part(CLUSTER, [], length),
  ...part([0xe7], [0], [0x81]),
  ...part([0xa3], new Array(5000).fill(0xff)),
  ...part([0xa0], new Array(300).fill(0)),
];
const CLUSTER_BYTES = 3 + 5003 + 303;
const film = (length, clusterLength) => [
  ...head,
  ...part(SEGMENT, [], length),
  ...part([0xec], [0, 0]),
  ...cluster(clusterLength),
  ...cluster(clusterLength),
  ...part([0x1c, 0x53, 0xbb, 0x6b], [1, 2, 3]),
];
const known = film([0x10, 0, 0x29, 0x9c], [0x40 | (CLUSTER_BYTES >> 8), CLUSTER_BYTES & 255]);
const live = film(UNKNOWN, UNKNOWN);
const whole = (bytes) => isWhole(new Blob([Uint8Array.from(bytes)]));

for (const [name, bytes] of Object.entries({ known, live })) {
  test(`a film whose lengths are ${name} is whole, or cut off, or damaged`, async () => {
    assert.equal(await whole(bytes), true);
    assert.equal(await whole(bytes.slice(0, 7000)), true);
    for (const value of [0xff, 0x5a, 0]) {
      const damaged = [...bytes];
      damaged.fill(value, 4000, 7000);
      assert.equal(await whole(damaged), false);
    }
  });
}

test("a film may be cut off within the number of a part", async () => {
  const end = head.length + part(SEGMENT, [], UNKNOWN).length + part([0xec], [0, 0]).length;
  for (const more of [1, 2, 3]) assert.equal(await whole(live.slice(0, end + more)), true);
});

test("a film longer than what is read at once", async () => {
  const long = [...head, ...part(SEGMENT, [], UNKNOWN)];
  for (let k = 0; k < 40; k++) long.push(...cluster(UNKNOWN));
  assert.equal(await whole(long), true);
  long.fill(0xff, 150000, 160000);
  assert.equal(await whole(long), false);
});

test("what is no WebM counts as whole", async () => {
  for (const bytes of [[], [1], [0, 0, 0, 32, 0x66, 0x74, 0x79, 0x70, 0xff, 0xff]]) {
    assert.equal(await whole(bytes), true);
  }
});
