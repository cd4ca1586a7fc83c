import type { KeyService } from '../keys/key-service.js';
import type { Telemetry } from './ports.js';

/** Wraps the key service to count outcomes of quota consumption. */
export function withQuotaMetrics(keys: KeyService, { meter }: Telemetry): KeyService {
  if (!meter) return keys;
  return {
    ...keys,
    async consumeOrgQuota(caller, request) {
      const consumption = await keys.consumeOrgQuota(caller, request);
      meter.consumed(consumption.rejection ?? 'allowed');
      return consumption;
    },
  };
}
