import { builder } from '../schema/builder.js';
import { readVisibleKeys, orgKeysArgs, OrgKeyConnection, OrgKeyEdge } from '../schema/key-list.js';
import { OrgKey } from '../schema/key.js';

builder.queryField('orgKeys', (t) =>
  t.connection(
    {
      type: OrgKey,
      nullable: true,
      description:
        'Lists keys, paginated. Requires a service credential; one that is bound to an organisation lists only its keys. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      args: orgKeysArgs,
      resolve: (caller, args, context, info) => readVisibleKeys(caller, args, context, info),
    },
    OrgKeyConnection,
    OrgKeyEdge,
  ),
);
