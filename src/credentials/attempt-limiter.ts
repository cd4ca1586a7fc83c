import ipaddr from 'ipaddr.js';

const mostFailures = 10;
const windowMs = 60_000;
const mostTracked = 10_000;

/** Counts credentials that were wrong, by where they come from and by which they are attempts at. */
export interface AttemptLimiter {
  /**
   * Counts one more. Answers undefined while there is room for it, else, counting nothing, in how many seconds there
   * is room again.
   */
  count(clientAddress: string, mark: string): number | undefined;
}

/**
 * At most ten failures in any minute, of an address and of a mark. Holds a bounded number of each and forgets the
 * ones that have been quiet for longest.
 */
export function createAttemptLimiter(now: () => Date): AttemptLimiter {
  const byAddress = createWindows();
  const byMark = createWindows();
  return {
    count(clientAddress, mark) {
      const at = now().getTime();
      const windows = [byAddress(networkOf(clientAddress), at), byMark(mark, at)];
      const full = windows.filter((failures) => failures.length >= mostFailures);
      if (full.length === 0) {
        for (const failures of windows) failures.push(at);
        return undefined;
      }
      const free = Math.max(...full.map(([oldest = at]) => oldest + windowMs));
      return Math.max(1, Math.ceil((free - at) / 1000));
    },
  };
}

/** The moments of the last minute's failures by key; the one asked for moves to the end of those to be forgotten. */
function createWindows(): (key: string, at: number) => number[] {
  const windows = new Map<string, number[]>();
  return (key, at) => {
    // Moments that are yet to come were counted before the clock was put back.
    const recent = (windows.get(key) ?? []).filter((moment) => moment > at - windowMs && moment <= at);
    windows.delete(key);
    windows.set(key, recent);
    const [oldest] = windows.size > mostTracked ? windows.keys() : [];
    if (oldest !== undefined) windows.delete(oldest);
    return recent;
  };
}

/** What one client has to itself: an IPv4 address, or the first 64 bits of an IPv6 address. */
function networkOf(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
