import { outputOf, keyfront } from './command.js';
import { compare, type Finding } from './compare.js';
import type { Entry } from './ledger.js';
import { readStored } from './stored.js';

// Messages of `check` about a data folder that the next start completes. Any other message is a finding.
const firstStart = [
  /^There is no complete installation in .+: its first start was interrupted\./m,
  /^There is no installation in .+: the file keyfront\.db (does not exist|is empty)\./m,
];
const laterStart = [
  // Of an older version, or with rows that are not signed yet.
  /start the service once to bring it up to date/i,
  // A hot journal, which only a writer can roll back.
  /attempt to write a readonly database/,
];

/** Returns the arguments of a command that completes the data folder like a start; undefined if none is needed. */
function completionCommandFor(stderr: string): string[] | undefined {
  if (firstStart.some((message) => message.test(stderr)))
    return ['credentials', 'issue', '--kind', 'service', '--label', 'after the fault'];
  // Opens the database to write, and does not change the data that is compared.
  return laterStart.some((message) => message.test(stderr)) ? ['webhooks', 'remove', 'hook_none'] : undefined;
}

/** Verifies a data folder after a fault with `keyfront check`, and compares it with the ledger of the clients. */
export async function inspect(data: string, ledger: readonly Entry[]): Promise<Finding[]> {
  let { code, stderr } = await keyfront(data, 'check');
  // `check` writes nothing, so another command completes the data folder. The file of an interrupted first start may
  // also have an older schema, which takes a second command.
  for (let starts = 0; code !== 0 && starts < 2; starts += 1) {
    const command = completionCommandFor(stderr);
    if (!command) break;
    await keyfront(data, ...command);
    ({ code, stderr } = await keyfront(data, 'check'));
  }
  const findings: Finding[] = code === 0 ? [] : [{ kind: 'damaged', what: `keyfront check: ${stderr}` }];
  // A database that cannot be opened cannot be compared.
  if (stderr.includes('cannot be')) return findings;
  return [...findings, ...compare(ledger, readStored(data))];
}

/** Verifies that every exported secret belongs to the definition of its key. */
export async function inspectSecrets(data: string): Promise<Finding[]> {
  const lines = (await outputOf(data, 'keys', 'export', '--with-secrets')).split('\n');
  return lines
    .filter((line) => line !== '')
    .flatMap((line): Finding[] => {
      const { key_id, alias, tags, hmac_string } = JSON.parse(line) as Record<string, unknown>;
      if (alias === hmac_string && JSON.stringify(tags) === JSON.stringify([alias])) return [];
      return [
        { kind: 'half', what: `${String(key_id)} holds ${String(alias)}, and the secret of ${String(hmac_string)}` },
      ];
    });
}
