import ipaddr from 'ipaddr.js';
import { createAttemptWindows } from '../lib/attempt-windows.js';

const maxFailures = 10;
const windowMs = 60_000;

/** Counts failed attempts, by client address and by credential. */
export interface AttemptLimiter {
  /**
   * Counts a failed attempt and returns undefined. If the limit is reached, counts nothing and returns the number of
   * seconds until the next attempt is allowed.
   *
   * @param attemptKey - identifies attempts with the same credential
   */
  count(clientAddress: string, attemptKey: string): number | undefined;
}

/**
 * Creates a limiter of ten failures per minute for each client address and each credential. It keeps a bounded number of
 * both, and evicts the least recently used.
 */
export function createAttemptLimiter(now: () => Date): AttemptLimiter {
  const byAddress = createAttemptWindows(windowMs);
  const byCredential = createAttemptWindows(windowMs);
  return {
    count(clientAddress, attemptKey) {
      const at = now().getTime();
      const windows = [byAddress(networkOf(clientAddress), at), byCredential(attemptKey, at)];
      const full = windows.filter((failures) => failures.length >= maxFailures);
      if (full.length === 0) {
        for (const failures of windows) failures.push(at);
        return undefined;
      }
      const nextAllowed = Math.max(...full.map(([oldest = at]) => oldest + windowMs));
      return Math.max(1, Math.ceil((nextAllowed - at) / 1000));
    },
  };
}

/** The address that one client controls: an IPv4 address, or the /64 prefix of an IPv6 address. */
function networkOf(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
