import { outputOf, keyfront } from './command.js';
import { compare, type Finding } from './compare.js';
import type { Entry } from './ledger.js';
import { readStored } from './stored.js';

// Messages of `check` for a data folder that the next start completes. Any other message is a finding.
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

/** The command that completes the data folder like a start; undefined if `stderr` requires none. */
function openingFor(stderr: string): string[] | undefined {
  if (firstStart.some((message) => message.test(stderr)))
    return ['credentials', 'issue', '--kind', 'service', '--label', 'after the fault'];
  // Opens to write, and changes nothing that is compared.
  return laterStart.some((message) => message.test(stderr)) ? ['webhooks', 'remove', 'hook_none'] : undefined;
}

/** Looks at a data folder after a fault, with `keyfront check` and against what the clients know. */
export async function inspect(data: string, ledger: readonly Entry[]): Promise<Finding[]> {
  let { code, stderr } = await keyfront(data, 'check');
  // A start completes these, and check does not: it writes nothing. What was acknowledged is compared afterwards. The file
  // of an interrupted first start may be of an older schema as well, which takes two.
  for (let starts = 0; code !== 0 && starts < 2; starts += 1) {
    const opening = openingFor(stderr);
    if (!opening) break;
    await keyfront(data, ...opening);
    ({ code, stderr } = await keyfront(data, 'check'));
  }
  const findings: Finding[] = code === 0 ? [] : [{ kind: 'damaged', what: `keyfront check: ${stderr}` }];
  // What cannot be opened at all has nothing to compare.
  if (stderr.includes('cannot be')) return findings;
  return [...findings, ...compare(ledger, readStored(data))];
}

/** Besides: whether every secret that can be read back belongs to the definition that it lies with. */
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
