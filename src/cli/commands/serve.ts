import type { CLICommand } from '../command.js';
import { describeSettings } from '../../config/settings.js';

export const serveCommand: CLICommand = {
  name: 'serve',
  summary: 'Start the server: GraphQL, REST key API and GraphiQL',
  description:
    'The first start creates the data folder, issues a management and a service credential, and prints each once; with NODE_ENV=production, it writes them to a file that only this user can read. To stop, press Ctrl-C or send SIGTERM: the server completes the requests in progress and exits.',
  options: {
    sample: { description: 'Also import three sample keys' },
    'allow-migrated': {
      description: 'Serve the data folder although `migrate-store` has copied it to a database server',
    },
    'allow-new': {
      description:
        'Create an installation although the data folder contains one (with a database server) or only its key ring',
    },
    workers: {
      value: 'N',
      description: 'Number of worker processes, 1 to 64; with SQLite, one writes at a time (default 1)',
    },
  },
  exitCodes: { 0: 'stopped by a signal', 1: 'failed to start, or stopped after a failure' },
  examples: ['NODE_ENV=production HOST=0.0.0.0 KEYFRONT_DATA=/var/lib/keyfront keyfront serve'],
  environment: Object.keys(describeSettings()),
  // Loaded on demand: the server is most of the code, and other commands start faster without it.
  run: async (io, options) => (await import('../server/serve.js')).serve(io, options),
};
