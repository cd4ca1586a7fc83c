import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import type { IO } from '../../io.js';
import { keyLocation, keysOptions } from '../../key-client/options.js';
import type { FollowedChange } from '../../key-client/port.js';
import { runKeysCommand, stringOption } from '../../key-client/run-key-command.js';
import type { OutputFormat } from '../../output/format.js';
import { formatHistoryEntry, historyEntryToJSON } from '../../output/history.js';
import { toJSONLine } from '../../output/json.js';

export const tailCommand: CLICommand = {
  name: 'tail',
  summary: 'Print changes of keys as they are made',
  description: `Runs until Ctrl-C or SIGTERM. Prints each change once, in order, and finally the cursor to continue from. A lost connection to a service is opened again without losing changes. Consumption of a quota is no change. ${keyLocation}`,
  options: {
    org: { value: 'ID', description: 'Changes of keys of this organisation' },
    'key-hash': { value: 'HASH', description: 'Changes of the key with this hash' },
    after: { value: 'CURSOR', description: 'Continue after this change (default: changes from now on)' },
    ...keysOptions,
  },
  exitCodes: {
    0: 'ended by a signal',
    1: 'rejected, for example because of an invalid cursor',
    2: 'invalid usage, or the changes cannot be accessed: no installation, service or valid credential',
  },
  examples: ['keyfront tail --org acme', 'keyfront tail --json --url https://keys.example.com | jq -c .changes'],
  environment: keyVariables,
  run: tail,
  errorExitCode: 2,
};

async function tail(io: IO, options: OptionValues): Promise<number> {
  const request = {
    orgID: parseOrgIDOption(options['org']),
    keyHash: stringOption(options, 'key-hash'),
    after: stringOption(options, 'after'),
  };
  return runKeysCommand({ io, command: 'tail', options }, async ({ keys, format }) => {
    const stop = new AbortController();
    io.onStop(() => stop.abort());
    let cursor = request.after;
    for await (const change of keys.follow(request, stop.signal)) {
      if (cursor === undefined) io.stderr('Waiting for changes. Press Ctrl-C to end.\n');
      ({ cursor } = change);
      printFollowed(io, format, change);
      await io.stdoutDrained?.();
    }
    if (cursor !== undefined) io.stderr(`To continue from here: --after ${printable(cursor)}\n`);
    return 0;
  });
}

function printFollowed(io: IO, format: OutputFormat, { cursor, change, isUnreadable }: FollowedChange): void {
  if (isUnreadable) io.stderr('Skipped a change that fails its integrity check. Run `keyfront check`.\n');
  if (!change) return;
  const { keyHash, orgID, entry } = change;
  if (format.isJSON) {
    io.stdout(`${toJSONLine({ cursor, key_hash: keyHash, org_id: orgID, ...historyEntryToJSON(entry) })}\n`);
  } else {
    io.stdout(`${format.paint.bold(printable(keyHash))}  ${printable(orgID)}\n${formatHistoryEntry(format, entry)}`);
  }
}
