import { printable } from '../../lib/text.js';
import type { UsageOf } from '../client/operations.js';
import { cannotAccess, keyLocation, keyOptions, runKeyCommand, runKeysCommand, stringOption } from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { csvFrom, csvOption, toCSV } from '../csv.js';
import { parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { formatTable, toJSONLine, type OutputFormat } from '../output.js';

export const usageCommand: CLICommand = {
  name: 'keys usage',
  alias: 'usage',
  summary: 'Print the requests of a key, or of all keys of an organization, by day',
  description: `Requests that were verified, or consumed from a quota, by day in UTC, of the last 400 days; days without requests are left out. A running service writes them every few seconds. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    org: { value: 'ID', description: 'All keys of this organization, instead of one' },
    from: { value: 'DAY', description: 'First day, such as 2026-01-31 (default: 29 days before the last)' },
    to: { value: 'DAY', description: 'Last day (default: today)' },
    csv: csvOption,
    ...keyOptions,
  },
  exitCodes: { 1: 'there is no such key, or the days are not valid', 2: cannotAccess },
  examples: [
    'keyfront keys usage acme-billing --from 2026-01-01 --to 2026-01-31',
    'keyfront keys usage --org acme --csv > acme.csv',
  ],
  run: usage,
  errorExitCode: 2,
};

async function usage(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const days = { from: stringOption(options, 'from'), to: stringOption(options, 'to') };
  const isCSV = csvFrom(options);
  const call = { io, command: 'keys usage', options, access: 'read' } as const;
  if (orgID === undefined) {
    return runKeyCommand({ ...call, args }, async ({ keys, format, keyID }) => {
      print(io, format, isCSV, await keys.usage(keyID, days));
      return 0;
    });
  }
  if (args.length > 0 || options['key-hash'] !== undefined || options['key-id-file'] !== undefined) {
    throw new UsageError('Specify a key or --org, not both.');
  }
  return runKeysCommand(call, async ({ keys, format }) => {
    print(io, format, isCSV, await keys.usageOfOrg(orgID, days));
    return 0;
  });
}

function print(io: IO, format: OutputFormat, isCSV: boolean, { from, to, allowed, denied, days }: UsageOf): void {
  if (format.isJSON) io.stdout(`${toJSONLine({ from, to, allowed, denied, days })}\n`);
  else if (isCSV)
    io.stdout(toCSV([['day', 'allowed', 'denied'], ...days.map((one) => [one.day, one.allowed, one.denied])]));
  else if (days.length === 0) io.stderr(`No requests from ${printable(from)} to ${printable(to)}.\n`);
  else {
    const rows = days.map((one) => [one.day, String(one.allowed), String(one.denied)]);
    io.stdout(formatTable([['DAY', 'ALLOWED', 'DENIED'], ...rows]));
    io.stderr(`From ${printable(from)} to ${printable(to)}: ${allowed} allowed, ${denied} denied.\n`);
  }
}
