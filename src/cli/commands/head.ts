import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { countOf } from '../output/count.js';
import { writeHead } from '../published-head.js';

export const headCommand: CLICommand = {
  name: 'head',
  summary: 'Print the state of all keys and credentials, to detect later that an older one was put back',
  description:
    'Opens the storage read-only, unless --accept is given; services may run meanwhile. Keep the output of --json where no process that writes to the database can change it. It contains hashes of key identifiers, versions, used quotas and the labels of credentials, and no secret. `keyfront check --against FILE` compares the installation with it.',
  options: {
    json: { description: 'Print the head as JSON Lines', isCommon: true },
    accept: {
      description:
        'First replace the head in the database by the present state: `keyfront check` reports no older keys and credentials, and no missing receipts',
    },
  },
  examples: ['keyfront head --json > head.jsonl'],
  environment: storageVariables,
  run: printHead,
};

async function printHead(io: IO, { json: isJSON, accept }: OptionValues): Promise<number> {
  return withServices(io, { access: accept === true ? 'write' : 'read' }, async (services) => {
    if (accept === true) await services.receiptCounts.accept(services.now());
    for (let isEnd = accept !== true; !isEnd;) {
      ({ isEnd } = await services.checkpoints.advance({ purgedBefore: new Date(0), accept: true }));
    }
    const { at, keys, credentials, digest } = await writeHead(services, async (line) => {
      if (isJSON !== true) return;
      io.stdout(line);
      // Without this wait, a slow reader would let the unread lines fill the memory.
      await io.stdoutDrained?.();
    });
    const summary = `Head of ${at.toISOString()}: ${countOf(keys, 'keys')}, ${countOf(credentials, 'credentials')}, digest ${digest}\n`;
    if (isJSON === true) io.stderr(summary);
    else io.stdout(summary);
    return 0;
  });
}
