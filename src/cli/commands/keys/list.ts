import { nearest } from '../../../lib/nearest.js';
import { printable } from '../../../lib/text.js';
import { keyStates, type KeyState } from '../../../keys/key.js';
import type { KeyFilter } from '../../../keys/key-query.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import { UsageError, type IO } from '../../io.js';
import { cannotAccess, keyLocation, keysOptions } from '../../key-client/options.js';
import type { KeyClient, ListedKey } from '../../key-client/port.js';
import { parseNumberOption, runKeysCommand, stringOption } from '../../key-client/run-key-command.js';
import { toJSONLine } from '../../output/json.js';
import { formatTable } from '../../output/table.js';
import { createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged-keys.js';

const defaultLimit = 100;
/** The largest page of the REST API. */
const pageSize = 100;

export const listCommand: CLICommand = {
  name: 'list',
  summary: 'List keys with their state and live quota',
  description: `All filters must match. Deleted keys are listed with --state DELETED only. ${keyLocation}`,
  options: {
    org: { value: 'ID', description: 'Keys of this organisation' },
    'alias-prefix': { value: 'TEXT', description: 'Keys whose alias begins with this text, case-sensitive' },
    tag: { value: 'TAG', description: 'Keys with this tag' },
    policy: { value: 'ID', description: 'Keys with this policy' },
    api: { value: 'ID', description: 'Keys with access to this API' },
    state: { value: 'STATE', description: `Keys in this state: ${Object.keys(keyStates).join(', ')}` },
    limit: { value: 'N', description: `Maximum number of keys (default ${defaultLimit})` },
    ...keysOptions,
  },
  exitCodes: { 1: 'a filter is not valid', 2: cannotAccess, 3: 'done, except for damaged keys, which are named' },
  examples: ['keyfront list --org acme --tag production', 'keyfront list --state EXPIRED --json | jq -r .key_hash'],
  environment: keyVariables,
  run: list,
  errorExitCode: 2,
};

async function list(io: IO, options: OptionValues): Promise<number> {
  const filter = filterFrom(options);
  const limit = parseNumberOption(options, 'limit') ?? defaultLimit;
  return runKeysCommand({ io, command: 'list', options }, async ({ keys, format }) => {
    const rows: string[][] = [];
    const damaged = createDamagedKeyReport(io);
    const isComplete = await forEachKey(keys, filter, limit, damaged.skip, async (key) => {
      if (!format.isJSON) return void rows.push(toRow(key));
      io.stdout(`${toJSONLine(toJSONObject(key))}\n`);
      await io.stdoutDrained?.();
    });
    if (!format.isJSON && rows.length > 0) io.stdout(formatTable([headings, ...rows]));
    if (!format.isJSON && rows.length === 0) io.stderr('No key matches.\n');
    if (!isComplete) io.stderr(`More keys match. Use --limit with more than ${limit}, or narrow the filters.\n`);
    if (damaged.count() === 0) return 0;
    io.stderr(`${damagedAdvice}\n`);
    return damagedExitCode;
  });
}

/** Calls `visit` with at most `limit` keys, page by page. Resolves to false if more keys match. */
async function forEachKey(
  keys: KeyClient,
  filter: KeyFilter,
  limit: number,
  skip: (keyHash: string) => void,
  visit: (key: ListedKey) => Promise<void>,
): Promise<boolean> {
  let after: string | undefined;
  for (let remaining = limit; remaining > 0;) {
    const page = await keys.list(filter, Math.min(remaining, pageSize), after);
    page.unreadable.forEach((keyHash) => skip(keyHash));
    for (const key of page.keys) await visit(key);
    if (page.next === undefined) return true;
    after = page.next;
    remaining -= page.keys.length + page.unreadable.length;
  }
  return false;
}

function filterFrom(options: OptionValues): KeyFilter {
  return {
    orgID: parseOrgIDOption(options['org']),
    aliasPrefix: stringOption(options, 'alias-prefix'),
    tag: stringOption(options, 'tag'),
    policy: stringOption(options, 'policy'),
    apiID: stringOption(options, 'api'),
    state: stateFrom(stringOption(options, 'state')),
  };
}

function stateFrom(text: string | undefined): KeyState | undefined {
  if (text === undefined) return undefined;
  const states = Object.keys(keyStates) as KeyState[];
  const found = states.find((state) => state === text.toUpperCase());
  if (found) return found;
  const suggestion = nearest(text.toUpperCase(), states);
  throw new UsageError(
    `--state must be one of ${states.join(', ')}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`,
  );
}

function toJSONObject({ keyHash, orgID, state, version, alias, tags, expires, lastUpdated, quota }: ListedKey): object {
  const { used, remaining, renewsAt } = quota;
  return {
    key_hash: keyHash,
    org_id: orgID,
    state,
    version,
    ...(alias !== undefined && { alias }),
    tags,
    ...(expires !== undefined && { expires }),
    last_updated: lastUpdated,
    quota: {
      used,
      ...(remaining !== undefined && { remaining }),
      ...(renewsAt !== undefined && { renews_at: renewsAt }),
    },
  };
}

const headings = ['ALIAS', 'ORGANISATION', 'STATE', 'VERSION', 'QUOTA', 'KEY HASH'];

function toRow({ keyHash, orgID, state, version, alias = '', quota: { used, remaining } }: ListedKey): string[] {
  const quota = remaining === undefined ? 'unlimited' : `${used} of ${used + remaining}`;
  return [printable(alias), printable(orgID), state, String(version), quota, keyHash];
}
