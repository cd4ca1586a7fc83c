// Statistics of a row of figures: the rounds of one run differ, and the middle one is the least accidental.

/** The value below which the given share of all values lies, from 0 to 1; NaN for no values. */
export function quantile(/** @type {readonly number[]} */ values, /** @type {number} */ share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** The median with the smallest and the largest value. */
export function spread(/** @type {readonly number[]} */ values) {
  return { median: quantile(values, 0.5), min: quantile(values, 0), max: quantile(values, 1) };
}

/**
 * The quotients of two servers' figures, round by round, so that what slows a whole round down cancels out. Undefined
 * where there is nothing to compare with.
 */
export function ratios(/** @type {readonly number[]} */ values, /** @type {readonly number[] | undefined} */ base) {
  return base && spread(values.map((value, round) => value / (base[round] ?? NaN)));
}
