import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, percent, plural, spoken, summary } from "../src/page/text.js";

const found = (name, score = 0.5) => ({ name, score });

test("a summary names the most frequent classes and counts the others", () => {
  assert.equal(summary([]), "nothing");
  assert.equal(summary([found("a"), found("b"), found("b")]), "2 × b, 1 × a");
  const many = Array.from({ length: 300 }, (_, number) => found(`class ${number}`));
  assert.match(summary(many), /^1 × class 0, (.*, ){4}and 295 other classes$/);
  assert.match(summary(many.slice(0, 6)), /and 1 other class$/);
});

test("what is seen is read out in words, with plurals where they are regular", () => {
  const persons = [found("person"), found("cell phone"), found("person")];
  assert.equal(spoken(persons), "2 persons, 1 cell phone");
  assert.equal(
    spoken([found("skis"), found("skis"), found("שלום")]),
    "2 × skis, 1 × \u2068שלום\u2069",
  );
  const cells = ["RBC", "Platelets", "RBC", "WBC"].map((name) => found(name));
  assert.equal(spoken(cells), "2 × RBC, 1 × Platelets, 1 × WBC");
  assert.equal(spoken([]), "nothing");
  const many = Array.from({ length: 7 }, (_, number) => found(`class ${number}`));
  assert.match(spoken(many), /^1 × class 0, (.*, ){4}and 2 other classes$/);
});

test("scores above 1 are no percentages, and the summary says so", () => {
  assert.equal(percent(0.874), "87 %");
  assert.equal(percent(1), "100 %");
  assert.equal(percent(3.921), "3.92");
  assert.match(summary([found("a", 3.9)]), /^1 × a \(with scores above 1: .*sigmoid/);
});

test("numbers of things, and times of a film", () => {
  assert.deepEqual([plural(1, "box", "boxes"), plural(2, "frame")], ["1 box", "2 frames"]);
  assert.deepEqual([0, 67.9, 600].map(clock), ["0:00", "1:07", "10:00"]);
});
