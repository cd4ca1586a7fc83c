import { loadKeyRing } from '../../crypto/key-ring.js';
import { errorCodeOf } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import { InstallationNotFoundError } from '../../storage/storage.js';
import type { Services } from '../../storage/open-storage.js';
import { rolledBackCredentials } from '../verify-installation.js';
import { damagedWebhookMessage } from '../commands/webhooks/find-webhook.js';
import type { Finding } from './machine.js';

const restoreRemedy = 'Run `keyfront check`, and restore a backup if it finds damage.';

/** Converts the error of opening the storage. The key ring is verified when the database is opened. */
export function findingOfOpening(error: unknown): Finding {
  const message = error instanceof Error ? error.message : 'The database cannot be opened.';
  if (error instanceof InstallationNotFoundError) {
    const remedy = 'Correct KEYFRONT_DATA or KEYFRONT_DATABASE_URL, or run `keyfront init`.';
    return { check: 'database', status: 'failed', message, remedy };
  }
  if (/key ring/.test(message)) {
    const remedy = 'Copy the key ring of this database from its backup, or correct KEYFRONT_KEY_RING.';
    return { check: 'key ring', status: 'failed', message, remedy };
  }
  return { check: 'database', status: 'failed', message, remedy: `Correct what the message names. ${restoreRemedy}` };
}

/** Checks that the database can be read. `check` verifies its content. */
export async function checkDatabase({ contents }: Services): Promise<Finding & { readonly newestChange?: Date }> {
  const { keys, newestChange } = await contents();
  const newest = newestChange ? `, the newest change is of ${newestChange.at.toISOString()}` : '';
  const message = `The database can be read; number of keys: ${keys}${newest}. \`keyfront check\` verifies its content.`;
  return { check: 'database', status: 'ok', message, ...(newestChange && { newestChange: newestChange.at }) };
}

/** Checks that no rotation of the key ring is incomplete. */
export async function checkKeyRing({ isRotated }: Services, keyRingFile: string): Promise<Finding> {
  const check = 'key ring';
  const { primaryID, ids } = loadKeyRing(keyRingFile);
  if (!(await isRotated(primaryID))) {
    const message = `A rotation to the key ${primaryID} is incomplete.`;
    return { check, status: 'warning', message, remedy: 'Run `keyfront secrets rotate` again.' };
  }
  return { check, status: 'ok', message: `The key ring belongs to the database; its keys are ${ids.join(', ')}.` };
}

const soonMs = 14 * 86_400_000;

/** Checks that there is a service credential, and that none expires soon. */
export async function checkCredentials(services: Services): Promise<Finding[]> {
  const { credentials, now } = services;
  const check = 'credentials';
  const problems = [
    ...(await credentials.findDamaged()).map((id) => `The credential ${id} fails the integrity check.`),
    ...(await rolledBackCredentials(services)),
  ];
  const damaged = problems.map((problem): Finding => ({
    check,
    status: 'failed',
    message: printable(problem),
    remedy: restoreRemedy,
  }));
  const at = now();
  const active = (await credentials.list()).filter(
    ({ revoked, expires }) => !revoked && (expires === undefined || expires > at),
  );
  const expiring = active.flatMap(({ id, expires, successorID }): Finding[] => {
    if (expires === undefined || successorID !== undefined || expires.getTime() - at.getTime() > soonMs) return [];
    const message = `The credential ${id} expires at ${expires.toISOString()}.`;
    return [{ check, status: 'warning', message, remedy: `Run: keyfront credentials rotate ${id}` }];
  });
  const missing: Finding[] = active.some(({ kind }) => kind === 'service')
    ? []
    : [
        {
          check,
          status: 'warning',
          message: 'No service credential is valid.',
          remedy: 'Run: keyfront credentials issue --kind service --label NAME',
        },
      ];
  const findings = [...damaged, ...expiring, ...missing];
  return findings.length > 0 ? findings : [{ check, status: 'ok', message: `Valid credentials: ${active.length}.` }];
}

/** Checks that the live counters in Redis can be read. */
export async function checkRedis({ ports }: Services, hasRedis: boolean): Promise<Finding> {
  const check = 'Redis';
  if (!hasRedis) return { check, status: 'ok', message: 'Not used: the live quota is in the database.' };
  try {
    await ports.externalCounters?.readCounters([ports.hashKeyID('doctor')]);
    return { check, status: 'ok', message: 'The live quota in Redis can be read.' };
  } catch (error) {
    if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
    const message = error instanceof Error ? error.message : 'Redis cannot be reached.';
    return { check, status: 'failed', message, remedy: 'Start Redis, or correct KEYFRONT_QUOTA_URL.' };
  }
}

/** Checks that every webhook is active and has no failed deliveries. */
export async function checkWebhooks({ webhooks }: Services): Promise<Finding[]> {
  const check = 'webhooks';
  const { intact, damaged } = await webhooks.list();
  const failed = damaged.map((id): Finding => {
    const remedy = `Run: keyfront webhooks remove ${id}`;
    return { check, status: 'failed', message: damagedWebhookMessage(id), remedy };
  });
  const paused = intact.flatMap((webhook): Finding[] => {
    if (!webhook.paused) return [];
    const message = `${webhook.id} is paused: ${printable(webhook.paused.why)}.`;
    return [{ check, status: 'warning', message, remedy: `Run: keyfront webhooks resume ${webhook.id}` }];
  });
  const failing = (await webhooks.deliveryStats()).flatMap(({ webhookID: id, deadLetters, retryingKeys }) => {
    const dead: Finding = {
      check,
      status: 'warning',
      message: `Dead letters of ${id}: ${deadLetters}.`,
      remedy: `See \`keyfront webhooks dead ${id}\`, and then run \`keyfront webhooks replay ${id}\`.`,
    };
    const retrying: Finding = {
      check,
      status: 'warning',
      message: `Deliveries to ${id} fail and are repeated; number of keys: ${retryingKeys}.`,
      remedy: `See \`keyfront webhooks test ${id}\`.`,
    };
    return [...(deadLetters > 0 ? [dead] : []), ...(retryingKeys > 0 ? [retrying] : [])];
  });
  const findings = [...failed, ...paused, ...failing];
  if (findings.length > 0) return findings;
  return [{ check, status: 'ok', message: `Webhooks: ${intact.length}, none with failed deliveries.` }];
}
