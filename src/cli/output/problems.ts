import type { Services } from '../../storage/open-storage.js';
import { aadFor } from '../../keys/commands/protect-secrets.js';
import type { IntegrityReport } from '../../keys/ports.js';
import { printable } from '../../lib/text.js';
import type { Sealer } from '../../crypto/encryption.js';
import { sealedValuesOf } from '../../webhooks/manage.js';

export interface InstallationReport {
  readonly keys: number;
  /** A line each, for people; empty where all is as it was written. */
  readonly problems: readonly string[];
}

/** Looks at everything that a data folder holds: the file, every row, every history, every sealed secret. */
export async function verifyInstallation(
  { store, credentials, webhooks, sealer, damages, contents }: Services,
  onProgress: (keys: number, part: number) => void,
): Promise<InstallationReport> {
  const problems = await damages();
  for (const id of await credentials.findDamaged()) problems.push(`The credential ${id} is not as it was written.`);
  problems.push(...(await problemsOfWebhooks(webhooks, sealer)));
  let keys = 0;
  try {
    const { keys: all } = await contents();
    for await (const found of store.verifyIntegrity()) {
      problems.push(...problemsOf(sealer, found));
      if (found.exists) onProgress((keys += 1), keys / all);
    }
  } catch (error) {
    problems.push(`The rest cannot be read: ${error instanceof Error ? error.message : 'for an unknown reason'}.`);
  }
  return { keys, problems: problems.map(printable) };
}

async function problemsOfWebhooks(webhooks: Services['webhooks'], sealer: Sealer): Promise<string[]> {
  const damaged = await webhooks.damaged();
  if (damaged.length > 0) return damaged.map((id) => `The webhook ${id} is not as it was written.`);
  return (await webhooks.list()).flatMap((webhook) =>
    sealedValuesOf(webhook)
      .filter(({ sealed, place }) => !doesOpen(sealer, sealed, place))
      .map(({ name }) => `The ${name} of ${webhook.id} does not open.`),
  );
}

function doesOpen(sealer: Sealer, sealed: Uint8Array, place: string): boolean {
  try {
    sealer.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}

function problemsOf(sealer: Sealer, { keyHash, exists, key, isHistoryIntact, isIndexed }: IntegrityReport): string[] {
  const sealed = { keyID: key?.sealedKeyID, jwtSecret: key?.secrets.jwtSecret, hmacString: key?.secrets.hmacString };
  const opens = (name: keyof typeof sealed) =>
    sealed[name] === undefined || doesOpen(sealer, sealed[name], aadFor(keyHash, name));
  return [
    ...(exists && !key ? [`The key ${keyHash} is not as it was written.`] : []),
    ...(isHistoryIntact ? [] : [`The history of ${keyHash} is not what was written.`]),
    ...(isIndexed ? [] : [`The key ${keyHash} is not found by all of its tags, policies and APIs.`]),
    ...(['keyID', 'jwtSecret', 'hmacString'] as const)
      .filter((name) => !opens(name))
      .map((name) => `The ${name} of ${keyHash} does not open.`),
  ];
}
