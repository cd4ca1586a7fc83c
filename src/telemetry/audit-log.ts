import { errorCodeOf } from '../lib/errors.js';
import type { AuditLog } from '../keys/ports.js';
import type { Logger } from '../lib/log.js';
import { printable } from '../lib/text.js';

const maxCharacters = 200;

/**
 * Creates the audit log: one line for every attempt to change or to deliver keys, with principal, operation, key hash and outcome.
 * Accepted quota consumption, and each acknowledgement of a gateway but the first, has the level debug; every other attempt has the level info.
 */
export function createAuditLog(log: Logger): AuditLog {
  return ({ event = 'change', operation, requestID, principal: caller, keyHash, credentialID, webhookID, outcome }) => {
    const isTraffic = 'isTraffic' in outcome && outcome.isTraffic === true;
    log[isTraffic ? 'debug' : 'info'](
      {
        event,
        operation,
        ...('error' in outcome ? rejectionOf(outcome.error) : { verdict: 'accepted' }),
        ...(caller && {
          actor: {
            id: short(caller.credentialID),
            label: short(caller.label),
            org: short(caller.orgID),
            client: short(caller.client),
            assertedName: short(caller.assertedName),
          },
        }),
        ...('orgID' in outcome && { org: short(outcome.orgID) }),
        keyHash,
        ...('version' in outcome && { version: outcome.version }),
        ...('isChanged' in outcome && !outcome.isChanged && { unchanged: true }),
        ...('gateway' in outcome && { gateway: short(outcome.gateway) }),
        ...(credentialID !== undefined && { credential: { id: short(credentialID) } }),
        ...('credential' in outcome && { credential: shortOf(outcome.credential) }),
        ...(webhookID !== undefined && { webhook: { id: short(webhookID) } }),
        ...('webhook' in outcome && { webhook: shortOf(outcome.webhook) }),
        ...('delivered' in outcome && { delivered: outcome.delivered }),
        requestID: short(requestID),
      },
      event,
    );
  };
}

/** After an INTERNAL error, the change may have been written: the attempt failed, and was not rejected. */
function rejectionOf(error: unknown): { verdict: 'rejected' | 'failed'; code: string } {
  const code = errorCodeOf(error);
  return { verdict: code === 'INTERNAL' ? 'failed' : 'rejected', code };
}

function shortOf(texts: Readonly<Record<string, string | undefined>> = {}): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, short(text)]));
}

/** Free text for one line: truncated, and safe for terminals. */
function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : printable(text.slice(0, maxCharacters));
}
