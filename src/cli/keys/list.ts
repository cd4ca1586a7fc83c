import { isSearchText, searchTextRule } from '../../keys/alias-search.js';
import { defaultOrder, type KeyFilter } from '../../keys/key-query.js';
import { keyStates, type KeyState } from '../../keys/key.js';
import { printable } from '../../lib/text.js';
import { formatUnixTime, liveQuotaToJSON, shortHash } from '../changes.js';
import type { KeyClient, ListedKey, ListRequest } from '../client/operations.js';
import {
  cannotAccess,
  keyLocation,
  keysOptions,
  parseNumberOption,
  runKeysCommand,
  stringOption,
} from '../client/run.js';
import type { CLICommand, OptionValues } from '../command.js';
import { csvFrom, csvOption, toCSV } from '../csv.js';
import { endWithSuggestion, parseDuration, parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine, formatTable } from '../output.js';
import { createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged.js';

const hourMs = 3_600_000;
const defaultLimit = 100;
/** The largest page of the REST API. */
const pageSize = 100;

const stateNames = Object.keys(keyStates).map((state) => state.toLowerCase());

const orders = {
  hash: 'KEY_HASH',
  alias: 'ALIAS',
  updated: 'LAST_UPDATED',
  expires: 'EXPIRES',
  created: 'CREATED',
  used: 'LAST_USED',
} as const;

export const listCommand: CLICommand = {
  name: 'keys list',
  alias: 'list',
  summary: 'List keys with their state, live quota, expiry and last use',
  description: `All filters must match. Deleted keys are listed with --state deleted only. The table shows the beginning of each hash, which --key-hash accepts. ${keyLocation}`,
  options: {
    org: { value: 'ID', description: 'Keys of this organization' },
    'alias-prefix': { value: 'TEXT', description: 'Keys whose alias begins with this text, case-sensitive' },
    search: { value: 'TEXT', description: 'Keys whose alias contains this text, in upper or lower case' },
    tag: { value: 'TAG', description: 'Keys with this tag' },
    policy: { value: 'ID', description: 'Keys with this policy' },
    api: { value: 'ID', description: 'Keys with access to this API' },
    state: { value: 'STATE', description: `Keys in this state: ${stateNames.join(', ')}` },
    'unused-for': {
      value: '90d',
      description:
        'Keys that were not used for this time, such as 12h, 90d or 4w, up to the last full hour; also those never used',
    },
    sort: {
      value: 'ORDER',
      description: `Order: ${Object.keys(orders).join(', ')}; a hyphen before it reverses it (default: alias with --alias-prefix or --search, otherwise hash)`,
    },
    limit: { value: 'N', description: `Maximum number of keys (default ${defaultLimit})` },
    cursor: { value: 'CURSOR', description: 'Continue where a list with the same filters and order ended' },
    csv: csvOption,
    ...keysOptions,
  },
  exitCodes: { 1: 'a filter is not valid', 2: cannotAccess, 3: 'done, except for damaged keys, which are named' },
  examples: [
    'keyfront keys list --org acme --tag production --sort -updated --limit 20',
    'keyfront keys list --state expired --json | jq -r .key_hash',
    'keyfront keys list --unused-for 90d --sort used --csv > unused.csv',
  ],
  run: list,
  errorExitCode: 2,
};

async function list(io: IO, options: OptionValues): Promise<number> {
  const filter = filterFrom(options);
  const isCSV = csvFrom(options);
  const order = orderFrom(stringOption(options, 'sort')) ?? { orderBy: defaultOrder(filter) };
  const limit = parseNumberOption(options, 'limit') ?? defaultLimit;
  const call = { io, command: 'keys list', options, access: 'read' } as const;
  return runKeysCommand(call, async ({ keys, format }) => {
    const rows: string[][] = [];
    const damaged = createDamagedKeyReport(io);
    const request = { filter, ...order, after: stringOption(options, 'cursor') };
    if (isCSV) io.stdout(toCSV([csvHeadings]));
    const next = await forEachKey(keys, request, limit, damaged.skip, async (key) => {
      if (!format.isJSON && !isCSV) return void rows.push(toRow(key));
      io.stdout(isCSV ? toCSV([toCells(key)]) : `${toJSONLine(toJSONObject(key))}\n`);
      await io.stdoutDrained?.();
    });
    if (!format.isJSON && !isCSV && rows.length > 0) io.stdout(formatTable([headings, ...rows]));
    if (!format.isJSON && !isCSV && rows.length === 0) io.stderr('No key matches.\n');
    if (next !== undefined) io.stderr(`More keys match. The next ones: --cursor ${printable(next)}\n`);
    if (damaged.count() === 0) return 0;
    io.stderr(`${damagedAdvice}\n`);
    return damagedExitCode;
  });
}

/** Calls `visit` with at most `limit` keys, page by page. Resolves to the cursor of the next keys, if more match. */
export async function forEachKey(
  keys: KeyClient,
  request: Omit<ListRequest, 'limit'>,
  limit: number,
  skip: (keyHash: string) => void,
  visit: (key: ListedKey) => void | Promise<void>,
): Promise<string | undefined> {
  let { after } = request;
  for (let remaining = limit; remaining > 0;) {
    const page = await keys.list({ ...request, after, limit: Math.min(remaining, pageSize) });
    page.unreadable.forEach((keyHash) => skip(keyHash));
    for (const key of page.keys) await visit(key);
    after = page.next;
    if (after === undefined) return undefined;
    remaining -= page.keys.length + page.unreadable.length;
  }
  return after;
}

function orderFrom(text: string | undefined): Pick<ListRequest, 'orderBy' | 'descending'> | undefined {
  if (text === undefined) return undefined;
  const name = text.replace(/^-/, '');
  const orderBy = Object.entries(orders).find(([known]) => known === name)?.[1];
  if (orderBy === undefined) {
    const known = Object.keys(orders);
    throw new UsageError(`--sort must be one of ${known.join(', ')}, with or without a hyphen before it.`);
  }
  return { orderBy, descending: text.startsWith('-') };
}

function filterFrom(options: OptionValues): KeyFilter {
  const unusedForMs = parseDuration('--unused-for', options['unused-for']);
  const [tag, state] = [stringOption(options, 'tag'), stateFrom(stringOption(options, 'state'))];
  const filter = {
    orgID: parseOrgIDOption(options['org']),
    aliasPrefix: stringOption(options, 'alias-prefix'),
    aliasContains: searchFrom(stringOption(options, 'search')),
    tagsAll: tag === undefined ? undefined : [tag],
    policy: stringOption(options, 'policy'),
    apiID: stringOption(options, 'api'),
    states: state === undefined ? undefined : [state],
    // From a full hour on, so that the cursor of a list is one of the next call.
    unusedSince:
      unusedForMs === undefined ? undefined : BigInt(Math.floor((Date.now() - unusedForMs) / hourMs) * hourMs),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

function searchFrom(text: string | undefined): string | undefined {
  if (text !== undefined && !isSearchText(text)) throw new UsageError(`--search ${searchTextRule}.`);
  return text;
}

function stateFrom(text: string | undefined): KeyState | undefined {
  if (text === undefined) return undefined;
  const found = (Object.keys(keyStates) as KeyState[]).find((state) => state === text.toUpperCase());
  if (found) return found;
  throw new UsageError(`--state must be one of ${stateNames.join(', ')}${endWithSuggestion(text, stateNames)}`);
}

function toJSONObject({ lastUsedAt, ...key }: ListedKey): object {
  const { keyHash, orgID, state, version, alias, tags, expires, lastUpdated, quota } = key;
  return {
    key_hash: keyHash,
    org_id: orgID,
    state,
    version,
    ...(alias !== undefined && { alias }),
    tags,
    ...(expires !== undefined && { expires }),
    last_updated: lastUpdated,
    ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
    quota: liveQuotaToJSON(quota),
  };
}

const csvHeadings = [
  'key_hash',
  'org_id',
  'alias',
  'state',
  'version',
  'tags',
  'used',
  'remaining',
  'expires',
  'last_updated',
  'last_used_at',
];

/** Times in RFC 3339; empty for none. */
function toCells({ quota: { used, remaining }, ...key }: ListedKey): (string | bigint | number)[] {
  const { keyHash, orgID, alias = '', state, version, tags, expires, lastUpdated, lastUsedAt = '' } = key;
  const expiry = expires !== undefined && expires > 0n ? formatUnixTime(expires) : '';
  const left = remaining === undefined ? '' : remaining;
  return [
    keyHash,
    orgID,
    alias,
    state,
    version,
    tags.join(' '),
    used,
    left,
    expiry,
    formatUnixTime(lastUpdated),
    lastUsedAt,
  ];
}

const headings = ['ALIAS', 'ORGANIZATION', 'HASH', 'STATE', 'QUOTA', 'EXPIRES', 'LAST USED'];

function toRow({ keyHash, orgID, state, alias = '', expires, lastUsedAt = 'never', ...key }: ListedKey): string[] {
  const { used, remaining } = key.quota;
  const quota = remaining === undefined ? 'unlimited' : `${used} of ${used + remaining}`;
  const hasExpiry = expires !== undefined && expires > 0n;
  return [
    printable(alias),
    printable(orgID),
    shortHash(keyHash),
    state.toLowerCase(),
    quota,
    hasExpiry ? formatUnixTime(expires) : 'never',
    lastUsedAt,
  ];
}
