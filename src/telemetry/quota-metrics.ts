import type { KeyService } from '../keys/key-service.js';
import type { Telemetry } from './ports.js';

/** Wraps the key service to count outcomes of quota consumption, and decisions for gateways. */
export function withQuotaMetrics(keys: KeyService, { meter }: Telemetry): KeyService {
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
  };
}
