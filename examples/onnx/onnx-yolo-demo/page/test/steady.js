/**
 * For tests/examples/yolo11n/page: what the page's rules make of films of detections.
 *
 *     node page/test/steady.js FILMS.json
 *
 * FILMS.json has `thresholds`, and `films` of frames of detections [x1, y1, x2, y2, score, class].
 * Prints as JSON how often the number of boxes changes in each film, `found` by the thresholds only
 * and `drawn`, and how many things of each class were counted after each frame, `seen`.
 */
import { readFileSync } from "node:fs";
import { drawn, follow, KNOWN, NOTHING } from "../src/count/tracking.js";

const SECONDS = 0.1; // between two frames
const { films, thresholds } = JSON.parse(readFileSync(process.argv[2], "utf8"));

const changes = (counts) => counts.filter((count, k) => k > 0 && count !== counts[k - 1]).length;

const report = films.map((frames) => {
  let state = NOTHING;
  const counts = frames.map((rows) => {
    const all = rows.map(([x1, y1, x2, y2, score, classId]) => {
      return { x1, y1, x2, y2, score, classId, name: String(classId) };
    });
    const above = (share) => all.filter((one) => one.score > share * thresholds[one.classId]);
    state = follow(state, above(KNOWN), thresholds, SECONDS);
    return { found: above(1).length, drawn: drawn(state).length, seen: state.seen };
  });
  return {
    found: changes(counts.map(({ found }) => found)),
    drawn: changes(counts.map((count) => count.drawn)),
    seen: counts.map(({ seen }) => thresholds.map((_, classId) => seen[classId] ?? 0)),
  };
});
process.stdout.write(JSON.stringify(report));
