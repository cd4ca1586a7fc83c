import { builder } from '../schema/builder.js';
import { withoutNulls } from '../schema/arguments.js';
import { OrgKeyChangedEvent } from '../schema/change-feed.js';

builder.subscriptionField('orgKeyChanged', (t) =>
  t.field({
    type: OrgKeyChangedEvent,
    description:
      'Streams changes of keys as they take effect, each once and in order. Consumption of a quota is not a change. A purge removes a key with its history, which later subscriptions do not receive. Requires a service credential. Errors: INVALID for a cursor of another database, RATE_LIMITED above the maximum number of open subscriptions of the credential, by default 100 per process.',
    credential: 'service',
    args: {
      orgID: t.arg.string({
        description:
          'Streams only changes of keys of this organisation. Default: all organisations that the credential can see. Example: acme.',
      }),
      keyHash: t.arg.string({ description: 'Streams only changes of the key with this hash, as in `OrgKey.keyHash`.' }),
      after: t.arg.string({
        description: 'Resumes after this cursor, that of the last event received. Default: only changes from now on.',
      }),
    },
    subscribe: (caller, args, { keys, registerSubscription }) =>
      keys.orgKeyChanges(caller, withoutNulls(args), registerSubscription(caller.credentialID)),
    resolve: (event) => event,
  }),
);
