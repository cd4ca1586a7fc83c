// Statistics of the figures of several rounds. The median is the least affected by outliers.

/** Returns the quantile of values for a share from 0 to 1; NaN for no values. */
export function quantile(/** @type {readonly number[]} */ values, /** @type {number} */ share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** Returns the median, the minimum and the maximum. */
export function spread(/** @type {readonly number[]} */ values) {
  return { median: quantile(values, 0.5), min: quantile(values, 0), max: quantile(values, 1) };
}

/**
 * Returns the spread of the ratios of two servers in each round, in which other load on the machine cancels out.
 * Undefined if there is no other server.
 */
export function ratios(/** @type {readonly number[]} */ values, /** @type {readonly number[] | undefined} */ base) {
  return base && spread(values.map((value, round) => value / (base[round] ?? NaN)));
}
