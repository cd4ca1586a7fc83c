import { printable } from '../../lib/text.js';
import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { countOf } from '../output/count.js';
import { toJSONLine } from '../output/json.js';
import { createProgressLine } from '../output/progress.js';
import { compareWithHead } from '../published-head.js';
import { verifyInstallation } from '../verify-installation.js';

export const checkCommand: CLICommand = {
  name: 'check',
  summary: 'Verify the integrity of the database, the histories and the encrypted secrets',
  description: 'Opens the storage read-only and changes nothing. Services may run meanwhile.',
  options: {
    json: { description: 'Print the number of keys, the pending resets and the problems as JSON', isCommon: true },
    against: {
      value: 'FILE',
      description:
        'Also name what is older than in this output of `keyfront head --json`, or missing; or find the heads of this JSON log',
    },
  },
  exitCodes: { 0: 'no problems found', 1: 'problems found, or no installation' },
  examples: ['keyfront check', 'keyfront check --against head.jsonl'],
  environment: storageVariables,
  run: check,
};

async function check(io: IO, { json: isJSON, against }: OptionValues): Promise<number> {
  return withServices(io, { access: 'read' }, async (services) => {
    const progress = createProgressLine(io, 'keys');
    const { keys, pendingResets, problems: damage } = await verifyInstallation(services, progress.show);
    progress.end();
    const rollbacks = typeof against === 'string' ? await compareWithHead(services, against) : [];
    const problems = [...damage, ...rollbacks.map(printable)];
    if (isJSON === true) io.stdout(`${toJSONLine({ keys, pending_resets: pendingResets.count, problems })}\n`);
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
