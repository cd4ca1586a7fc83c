import { printable } from '../../lib/text.js';
import { formatHistoryEntry, formatNotice, noticeToJSON, historyEntryToJSON } from '../changes.js';
import type { FollowedChange } from '../client/operations.js';
import {
  cannotAccess,
  hashToFollow,
  keyLocation,
  keyReferenceFrom,
  parseNumberOption,
  runKeysCommand,
  stringOption,
  keyOptions,
  runKeyCommand,
} from '../client/run.js';
import type { CLICommand, OptionValues } from '../command.js';
import { parseOrgIDOption } from '../input.js';
import type { IO } from '../io.js';
import { toJSONLine, type OutputFormat } from '../output.js';

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
