import assert from "node:assert/strict";
import { test } from "node:test";
import { asCsv, distinctNames, inOwnPixels } from "../src/page/formats.js";

const found = { name: "cup, large", classId: 1, score: 0.75, x1: 10.004, y1: 20, x2: 40.5, y2: 60 };
const PICTURES = [
  { title: 'a "b".jpg', width: 640, height: 480, detections: [found, { ...found, classId: 0 }] },
  { title: "nothing.png", width: 32, height: 16, detections: [] },
  { title: "c.png", width: 64, height: 48, detections: [found] },
];

test("CSV has a row for each detection, and quotes what needs it", () => {
  const rows = asCsv(PICTURES).split("\r\n");
  assert.equal(rows.length, 5); // the last one is empty
  assert.equal(rows[0], "picture,width,height,class,score,x1,y1,x2,y2");
  assert.equal(rows[1], '"a ""b"".jpg",640,480,"cup, large",0.7500,10,20,40.5,60');
});

test("of pictures of one name each gets its own", () => {
  const names = ["a.png", "a.png", "a (2).png", "a.png", "b", "b", ".env"];
  const distinct = ["a.png", "a (3).png", "a (2).png", "a (4).png", "b", "b (2)", ".env"];
  assert.deepEqual(distinctNames(names), distinct);
});

test("boxes of a picture that was made smaller go back by each axis", () => {
  // Sides are whole numbers: a strip's lose its proportions.
  const [kept, own] = [
    { width: 16384, height: 8 },
    { width: 20000, height: 10 },
  ];
  const box = { name: "a", x1: 0, y1: 4, x2: 16384, y2: 8 };
  assert.deepEqual(inOwnPixels(box, kept, own), { name: "a", x1: 0, y1: 5, x2: 20000, y2: 10 });
});
