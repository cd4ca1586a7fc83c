import { isSearchText, searchTextRule } from '../../keys/alias-search.js';
import { defaultOrder, type KeyFilter } from '../../keys/key-query.js';
import { keyStates, type KeyState } from '../../keys/key.js';
import { nearest } from '../../lib/nearest.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionToWire, definitionFromWire } from '../../wire/field-names.js';
import {
  formatLiveQuota,
  formatUnixTime,
  liveQuotaToJSON,
  shortHash,
  changeResultToJSON,
  formatChangeResult,
  hasNoEffect,
  withoutResetFields,
  formatHistoryEntry,
  formatNotice,
  noticeToJSON,
  historyEntryToJSON,
} from '../changes.js';
import type { KeyClient, ListedKey, ListRequest, FollowedChange } from '../client/operations.js';
import {
  cannotAccess,
  hashToFollow,
  keyLocation,
  keyReferenceFrom,
  keysOptions,
  parseNumberOption,
  runKeysCommand,
  stringOption,
  keyOptions,
  runKeyCommand,
  definitionFile,
  resetQuotaOption,
} from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { readDefinitionObject } from '../definitions.js';
import { csvFrom, csvOption, toCSV } from '../csv.js';
import { parseDuration, parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine, formatTable, toIndentedJSON, type OutputFormat } from '../output.js';
import { createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged.js';

const hourMs = 3_600_000;
const defaultLimit = 100;
/** The largest page of the REST API. */
const pageSize = 100;

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
  description: `All filters must match. Deleted keys are listed with --state DELETED only. The table shows the beginning of each hash, which --key-hash accepts. ${keyLocation}`,
  options: {
    org: { value: 'ID', description: 'Keys of this organization' },
    'alias-prefix': { value: 'TEXT', description: 'Keys whose alias begins with this text, case-sensitive' },
    search: { value: 'TEXT', description: 'Keys whose alias contains this text, in upper or lower case' },
    tag: { value: 'TAG', description: 'Keys with this tag' },
    policy: { value: 'ID', description: 'Keys with this policy' },
    api: { value: 'ID', description: 'Keys with access to this API' },
    state: { value: 'STATE', description: `Keys in this state: ${Object.keys(keyStates).join(', ')}` },
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
    'keyfront keys list --state EXPIRED --json | jq -r .key_hash',
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
  const states = Object.keys(keyStates) as KeyState[];
  const found = states.find((state) => state === text.toUpperCase());
  if (found) return found;
  const suggestion = nearest(text.toUpperCase(), states);
  throw new UsageError(
    `--state must be one of ${states.join(', ')}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`,
  );
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
    state,
    quota,
    hasExpiry ? formatUnixTime(expires) : 'never',
    lastUsedAt,
  ];
}

export const getCommand: CLICommand = {
  name: 'keys get',
  alias: 'get',
  summary: 'Print the definition of a key, without secrets',
  description: `\`keys put\` accepts the output, which is JSON with or without --json. The version and the live quota are printed to standard error; with --json, they are in the output. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { deleted: { description: 'Also find a deleted key, until it is purged' }, ...keyOptions },
  exitCodes: { 1: 'there is no such key', 2: cannotAccess },
  examples: ['keyfront keys get acme-billing > billing.json'],
  run: get,
  errorExitCode: 2,
};

async function get(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const includeDeleted = options['deleted'] === true;
  const call = { io, command: 'keys get', options, args, access: 'read' } as const;
  return runKeyCommand(call, async ({ keys, format, keyID }) => {
    const { definition, version, keyHash, state, quota } = await keys.read(keyID, { includeDeleted });
    const data = definitionToWire(definition);
    if (format.isJSON) {
      const live = quota ? liveQuotaToJSON(quota) : null;
      io.stdout(`${toJSONLine({ key_hash: keyHash, version, state, data, quota: live })}\n`);
      return 0;
    }
    io.stdout(`${toIndentedJSON(data)}\n`);
    const deleted = state === 'DELETED' ? ', deleted' : '';
    io.stderr(
      `Version ${version} of ${printable(keyHash)}${deleted}, without secrets.\nLive quota: ${formatLiveQuota(quota)}.\n`,
    );
    return 0;
  });
}

export const diffCommand: CLICommand = {
  name: 'keys diff',
  alias: 'diff',
  summary: 'Show the field-level changes that an update would make',
  description: `Changes nothing. A \`quota_remaining\` and \`quota_renews\` that a reset has stored and FILE omits are no difference. ${definitionFile}`,
  arguments: ['[KEY_ID]', 'FILE'],
  options: { 'reset-quota': resetQuotaOption, ...keyOptions },
  exitCodes: { 0: 'no differences', 1: 'differences', 2: `rejected, ${cannotAccess}` },
  examples: ['keyfront keys diff acme-billing billing.json --url https://keys.example.com'],
  run: diff,
  errorExitCode: 2,
};

async function diff(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const resetQuota = options['reset-quota'] === true;
  const call = {
    io,
    command: 'keys diff',
    options,
    args,
    argsAfterKey: 1,
    rejectedExitCode: 2,
    access: 'read',
  } as const;
  return runKeyCommand(call, async ({ keys, format, keyID, args: [file = ''] }) => {
    const body = await readDefinitionObject(io, file);
    const prediction = await withWireIssuePaths(body, () =>
      keys.previewUpdate(keyID, definitionFromWire(body), { resetQuota }),
    );
    const result = withoutResetFields(prediction);
    const same = hasNoEffect(result);
    if (format.isJSON) io.stdout(`${toJSONLine({ same, ...changeResultToJSON(result, body) })}\n`);
    else io.stdout(`${formatChangeResult(format, result, body)}${same ? 'No differences.\n' : ''}`);
    return same ? 0 : 1;
  });
}

const defaultEntries = 20;
const maxEntries = 100;

export const historyCommand: CLICommand = {
  name: 'keys history',
  alias: 'history',
  summary: 'List the changes of a key, newest first',
  description: `Also of a deleted key, until it is purged. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    limit: { value: 'N', description: `Maximum number of entries, up to ${maxEntries} (default ${defaultEntries})` },
    ...keyOptions,
  },
  exitCodes: { 1: 'there is no such key', 2: cannotAccess },
  examples: ['keyfront keys history acme-billing --limit 5'],
  run: history,
  errorExitCode: 2,
};

async function history(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const limit = parseNumberOption(options, 'limit', maxEntries) ?? defaultEntries;
  const call = { io, command: 'keys history', options, args, access: 'read' } as const;
  return runKeyCommand(call, async ({ keys, format, keyID }) => {
    for (const entry of await keys.history(keyID, limit)) {
      io.stdout(format.isJSON ? `${toJSONLine(historyEntryToJSON(entry))}\n` : formatHistoryEntry(format, entry));
    }
    return 0;
  });
}

export const followCommand: CLICommand = {
  name: 'keys follow',
  alias: 'tail',
  summary: 'Print changes of keys as they are made',
  description: `Runs until Ctrl-C or SIGTERM. Prints each change once, in order, notices of keys that expire, use up a quota or are purged, and finally the cursor to continue from. A lost connection to a service is opened again without losing changes. With KEY_ID or --key-hash, the changes of one key, also after a rotation. Consumption of a quota is no change. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    org: { value: 'ID', description: 'Changes of keys of this organization' },
    after: { value: 'CURSOR', description: 'Continue after this change (default: changes from now on)' },
    ...keyOptions,
  },
  exitCodes: {
    0: 'ended by a signal',
    1: 'rejected, for example because of an invalid cursor',
    2: 'invalid usage, or the changes cannot be accessed: no installation, service or valid credential',
  },
  examples: [
    'keyfront keys follow --org acme',
    'keyfront keys follow acme-billing',
    'keyfront keys follow --json --url https://keys.example.com | jq -c .changes',
  ],
  run: follow,
  errorExitCode: 2,
};

async function follow(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const request = {
    orgID: parseOrgIDOption(options['org']),
    after: stringOption(options, 'after'),
  };
  const isOfKey = args.length > 0 || options['key-hash'] !== undefined || options['key-id-file'] !== undefined;
  const reference = isOfKey ? keyReferenceFrom(options, args) : undefined;
  const call = { io, command: 'keys follow', options, access: 'read' } as const;
  return runKeysCommand(call, async ({ keys, format }) => {
    const keyHash = reference && (await hashToFollow(keys, reference));
    const stop = new AbortController();
    io.onStop(() => stop.abort());
    let cursor = request.after;
    for await (const change of keys.follow({ ...request, keyHash }, stop.signal)) {
      if (cursor === undefined) io.stderr('Waiting for changes. Press Ctrl-C to end.\n');
      ({ cursor } = change);
      printFollowed(io, format, change);
      await io.stdoutDrained?.();
    }
    if (cursor !== undefined) io.stderr(`To continue from here: --after ${printable(cursor)}\n`);
    return 0;
  });
}

function printFollowed(io: IO, format: OutputFormat, { cursor, change, notice, isUnreadable }: FollowedChange): void {
  if (isUnreadable) io.stderr('Skipped a change that fails its integrity check. Run `keyfront check`.\n');
  const head = (keyHash: string, orgID: string) => `${format.paint.bold(printable(keyHash))}  ${printable(orgID)}\n`;
  if (notice) {
    const { keyHash, orgID } = notice;
    const line = toJSONLine({ cursor, key_hash: keyHash, org_id: orgID, ...noticeToJSON(notice) });
    io.stdout(format.isJSON ? `${line}\n` : `${head(keyHash, orgID)}${formatNotice(format, notice)}`);
  }
  if (!change) return;
  const { keyHash, orgID, entry } = change;
  if (format.isJSON) {
    io.stdout(`${toJSONLine({ cursor, key_hash: keyHash, org_id: orgID, ...historyEntryToJSON(entry) })}\n`);
  } else {
    io.stdout(`${head(keyHash, orgID)}${formatHistoryEntry(format, entry)}`);
  }
}
