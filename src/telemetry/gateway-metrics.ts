import { errorCodeOf } from '../lib/errors.js';
import type { KeyService } from '../keys/key-service.js';
import type { Telemetry } from './ports.js';

/** Wraps the key service to count what it does for gateways: quota consumption, decisions, and deliveries of keys. */
export function withGatewayMetrics(keys: KeyService, { meter }: Telemetry): KeyService {
  if (!meter) return keys;
  return {
    ...keys,
    async consumeOrgQuota(caller, request) {
      const consumption = await keys.consumeOrgQuota(caller, request);
      meter.consumed(consumption.rejection ?? 'allowed');
      return consumption;
    },
    async verifyKey(caller, request) {
      const verification = await keys.verifyKey(caller, request);
      meter.verified(verification.code);
      return verification;
    },
    async verifyKeys(caller, requests) {
      const verifications = await keys.verifyKeys(caller, requests);
      for (const { code } of verifications) meter.verified(code);
      return verifications;
    },
    async deliverKey(caller, reference) {
      const key = await keys.deliverKey(caller, reference).catch((error: unknown) => {
        if (errorCodeOf(error) === 'INTERNAL') meter.delivered('unreadable', 1);
        throw error;
      });
      if (key) meter.delivered('delivered', 1);
      return key;
    },
    async deliverKeys(caller, request) {
      const page = await keys.deliverKeys(caller, request);
      const unreadable = page.items.filter(({ key }) => key instanceof Error).length;
      meter.delivered('delivered', page.items.length - unreadable);
      meter.delivered('unreadable', unreadable);
      return page;
    },
  };
}
