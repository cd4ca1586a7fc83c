/** Returns the times of the recent attempts of a key, in milliseconds. The caller adds the time of a further attempt. */
export type AttemptWindows = (key: string, at: number) => number[];

/** Maximum number of keys, of which the least recently used is evicted. */
const maxTracked = 10_000;

/** Creates windows of `windowMs` milliseconds for a bounded number of keys. An LRU map: each access makes the key the newest. */
export function createAttemptWindows(windowMs: number): AttemptWindows {
  const windows = new Map<string, number[]>();
  return (key, at) => {
    // Times in the future were counted before the clock was set back.
    const recent = (windows.get(key) ?? []).filter((moment) => moment > at - windowMs && moment <= at);
    windows.delete(key);
    windows.set(key, recent);
    const [oldest] = windows.size > maxTracked ? windows.keys() : [];
    if (oldest !== undefined) windows.delete(oldest);
    return recent;
  };
}
