/** What one slider does to the thresholds of many classes. */

const odds = (share) => share / (1 - share);

/**
 * The thresholds of all classes as the slider moves them: the odds p / (1 - p) of each change by the
 * same factor, so they keep their order and stay between 0 and 1.
 * @param {number[]} thresholds Of the model.
 * @param {number} from Where the slider is for these.
 * @param {number} to Where it is now.
 * @returns {number[]} With six digits, so that the one at `from` comes to `to`.
 */
export function moved(thresholds, from, to) {
  if (to === from) return thresholds;
  const factor = odds(to) / odds(from);
  return thresholds.map((threshold) => {
    const share = (threshold * factor) / (1 - threshold + threshold * factor);
    return Number(share.toFixed(6));
  });
}
