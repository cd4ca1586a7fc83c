import { codeOf } from '../lib/errors.js';
import type { AuditLog } from '../keys/ports.js';
import type { Logger } from '../lib/log.js';
import { printable } from '../lib/text.js';

const mostCharacters = 200;

/**
 * Writes one line for every attempt to change a key, accepted or refused: who, what, which key (by its hash), and what
 * became of it. What gateways take from quotas is written at the level debug, and what they are refused like all else.
 */
export function createAuditLog(log: Logger): AuditLog {
  return ({ operation, requestID, principal: caller, keyHash, outcome }) => {
    const isTraffic = 'isTraffic' in outcome && outcome.isTraffic === true;
    log[isTraffic ? 'debug' : 'info'](
      {
        event: 'change',
        operation,
        ...('error' in outcome ? refusal(outcome.error) : { verdict: 'accepted' }),
        ...(caller && {
          actor: { id: short(caller.credentialID), label: short(caller.label), org: short(caller.orgID) },
        }),
        ...('orgID' in outcome && { org: short(outcome.orgID) }),
        keyHash,
        ...('version' in outcome && { version: outcome.version }),
        requestID: short(requestID),
      },
      'change',
    );
  };
}

/** After an error of ours nobody can tell whether something was written: that is no refusal. */
function refusal(error: unknown): { verdict: 'refused' | 'failed'; code: string } {
  const code = codeOf(error);
  return { verdict: code === 'INTERNAL' ? 'failed' : 'refused', code };
}

/** Free text in one line of bounded length, also for terminals that obey what JSON leaves as it is. */
function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : printable(text.slice(0, mostCharacters));
}
