import type { Sealer } from '../crypto/encryption.js';
import { aadOfRequest } from '../storage/sql/proposal-requests.js';
import { sealedSecretsOf } from '../keys/protect-secrets.js';
import type { IntegrityReport } from '../keys/ports.js';
import { errorCodeOf } from '../lib/errors.js';
import { printable } from '../lib/text.js';
import type { Services } from '../storage/open-storage.js';
import { sealedValuesOf } from '../webhooks/manage.js';
import { withServices } from './client/open.js';
import { type CLICommand, type OptionValues } from './command.js';
import { compareWithHead, problemsOfCheckpoints } from './head.js';
import type { IO } from './io.js';
import { countOf, createProgressLine, jsonOption, printJSONResult } from './output.js';

export const checkCommand: CLICommand = {
  name: 'check',
  summary: 'Verify the integrity of the database, the histories and the encrypted secrets',
  description: 'Opens the storage read-only and changes nothing. Services may run meanwhile.',
  options: {
    json: jsonOption,
    against: {
      value: 'FILE',
      description:
        'Also name what is older than in this output of `keyfront head --json`, or missing; or find the heads of this JSON log',
    },
  },
  exitCodes: { 0: 'no problems found', 1: 'problems found, or no installation' },
  examples: ['keyfront check', 'keyfront check --against head.jsonl'],
  run: check,
};

async function check(io: IO, options: OptionValues): Promise<number> {
  const { against } = options;
  return withServices(io, { access: 'read' }, async (services) => {
    const progress = createProgressLine(io, 'keys');
    const { keys, pendingResets, problems: damage } = await verifyInstallation(services, progress.show);
    progress.end();
    const rollbacks = typeof against === 'string' ? await compareWithHead(services, against) : [];
    const problems = [...damage, ...rollbacks.map(printable)];
    printJSONResult(io, options, { keys, pending_resets: pendingResets.count, problems });
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (pendingResets.count > 0) {
      const since = pendingResets.oldest?.toISOString() ?? '';
      io.stderr(`Waiting for Redis since ${since}: ${countOf(pendingResets.count, 'changes of live quotas')}.\n`);
    }
    const found = problems.length === 0 ? 'no problems found' : `problems found: ${problems.length}`;
    io.stderr(`${countOf(keys, 'keys verified')}, ${found}.\n`);
    return problems.length === 0 ? 0 : 1;
  });
}

/** Result of the verification of an installation. */
interface InstallationReport {
  readonly keys: number;
  /** Changes of live quotas that are not applied and verified in Redis yet. */
  readonly pendingResets: { readonly count: number; readonly oldest: Date | undefined };
  /** One line for each problem; empty if the installation is intact. */
  readonly problems: readonly string[];
}

/**
 * Verifies the database file, the signature of every row, every history, every index, every receipt and every
 * sealed secret.
 *
 * @param onProgress - receives the number of verified keys and their fraction of all keys, 0 to 1
 */
export async function verifyInstallation(
  services: Services,
  onProgress: (keys: number, fraction: number) => void,
): Promise<InstallationReport> {
  const { store, credentials, webhooks, sealer, damages, contents } = services;
  const problems = await damages();
  for (const id of await credentials.findDamaged()) problems.push(`The credential ${id} fails the integrity check.`);
  problems.push(...(await rolledBackCredentials(services)));
  problems.push(...(await problemsOfCheckpoints(services)));
  problems.push(...(await problemsOfWebhooks(webhooks, sealer)));
  problems.push(...(await services.policies.verify()));
  problems.push(...(await services.proposals.verify()));
  problems.push(...(await problemsOfRequests(services)));
  problems.push(...(await problemsOfReceipts(services)));
  const pendingResets = await pendingResetsOf(services, problems);
  let keys = 0;
  try {
    const { keys: total } = await contents();
    for await (const report of store.verifyIntegrity()) {
      problems.push(...problemsOfKey(sealer, report));
      if (report.exists) onProgress((keys += 1), keys / total);
    }
  } catch (error) {
    problems.push(`Cannot read the other keys: ${error instanceof Error ? error.message : 'unknown error'}.`);
  }
  return { keys, pendingResets, problems: problems.map(printable) };
}

/**
 * Verifies an installation before or after it is copied, and prints its problems.
 *
 * @returns the number of its keys
 * @throws {Error} with this message if there are problems
 */
export async function requireIntact(io: IO, services: Services, message: string): Promise<number> {
  const progress = createProgressLine(io, 'keys verified');
  const { keys, problems } = await verifyInstallation(services, progress.show);
  progress.end();
  for (const problem of problems) io.stderr(`${problem}\n`);
  if (problems.length > 0) throw new Error(message);
  return keys;
}

/** The problems of credentials that are not in their newest state, one line each. */
export async function rolledBackCredentials({ credentials }: Services): Promise<string[]> {
  try {
    return (await credentials.findRolledBack()).map(({ id, label }) =>
      label === undefined
        ? `The credential ${id} is missing.`
        : `The credential ${id} (${label}) is not in its newest state: an older row was put back.`,
    );
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return ['The head of the credentials fails the integrity check.'];
  }
}

/** Verifies the outbox of live quotas, and adds a problem if a row is damaged. */
async function pendingResetsOf({ store }: Services, problems: string[]): Promise<InstallationReport['pendingResets']> {
  let count = 0;
  let oldest: Date | undefined;
  try {
    for await (const changes of store.pendingBefore(endOfTime)) {
      count += changes.length;
      oldest ??= changes[0]?.at;
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    problems.push('A change of a live quota that waits for Redis fails the integrity check.');
  }
  return { count, oldest };
}

const endOfTime = new Date(8_640_000_000_000_000);

async function problemsOfWebhooks(webhooks: Services['webhooks'], sealer: Sealer): Promise<string[]> {
  const { intact, damaged } = await webhooks.list();
  if (damaged.length > 0) return damaged.map((id) => `The webhook ${id} fails the integrity check.`);
  return intact.flatMap((webhook) =>
    sealedValuesOf(webhook)
      .filter(({ sealed, aad }) => !canOpen(sealer, sealed, aad))
      .map(({ name }) => `The ${name} of ${webhook.id} cannot be decrypted.`),
  );
}

/** The sealed requests of proposals. */
async function problemsOfRequests({ proposals, sealer }: Services): Promise<string[]> {
  const problems: string[] = [];
  for await (const page of proposals.allSealed()) {
    for (const { id, sealed } of page) {
      if (!canOpen(sealer, sealed, aadOfRequest(id)))
        problems.push(`The request of the proposal ${id} cannot be decrypted.`);
    }
  }
  return problems;
}

/** A receipt whose key was removed by `secrets prune` can be neither used nor verified. */
async function problemsOfReceipts({ store, receiptCounts, ports: { receipts }, now }: Services): Promise<string[]> {
  const problems: string[] = [];
  try {
    for (const { from, count } of await receiptCounts.findMissing(now())) {
      problems.push(
        `${count} ${count === 1 ? 'receipt is' : 'receipts are'} missing of requests with an idempotency key in the hour from ${from.toISOString()}: repeated, they would be carried out again.`,
      );
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    problems.push('The head of the receipts fails the integrity check.');
  }
  for await (const page of store.allReceipts()) {
    for (const receipt of page) {
      try {
        if (!receipts.isKeyRemoved(receipt)) receipts.open(receipt);
      } catch {
        problems.push(`The receipt ${receipt.id} of a request with an idempotency key fails the integrity check.`);
      }
    }
  }
  return problems;
}

function problemsOfKey(
  sealer: Sealer,
  { keyHash, exists, key, isHistoryIntact, isIndexed }: IntegrityReport,
): string[] {
  return [
    ...(exists && !key ? [`The key ${keyHash} fails the integrity check.`] : []),
    ...(isHistoryIntact ? [] : [`The history of ${keyHash} fails the integrity check.`]),
    ...(isIndexed ? [] : [`The index of tags, policies, APIs and identifiers does not match the key ${keyHash}.`]),
    ...(key ? sealedSecretsOf(key) : [])
      .filter(({ sealed, aad }) => !canOpen(sealer, sealed, aad))
      .map(({ name }) => `The ${name} of ${keyHash} cannot be decrypted.`),
  ];
}

function canOpen(sealer: Sealer, sealed: Uint8Array, aad: string): boolean {
  try {
    sealer.open(sealed, aad);
    return true;
  } catch {
    return false;
  }
}
