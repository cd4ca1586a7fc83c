import { describe, expect, it } from 'vitest';
import { sampleKeyLines } from '../../../src/cli/serve/first-start.js';
import { examples, welcome, type ExampleOperation } from '../../../src/graphql/graphiql/browser/examples.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { noCredentials, startOwnApp, type TestApp } from '../../support/app.js';

const nameOf = ({ query }: ExampleOperation) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '';

async function startSample(): Promise<TestApp> {
  const t = await startOwnApp();
  await t.importKeys(...sampleKeyLines.map((line) => JSON.parse(line) as object));
  return t;
}

/** Sends an example with the one credential that it needs. */
async function send(t: TestApp, { query, variables, credential }: ExampleOperation) {
  const isManagement = credential === 'management';
  const header = isManagement ? { authorization: `Bearer ${t.management}` } : { 'x-svc-authorization': t.service };
  const headers = { ...noCredentials, ...header };
  const { body } = await t.post({ query, variables: JSON.parse(variables) as object }, headers);
  return body as { errors?: { extensions: { code: string; issues: { path: string }[] } }[]; data?: object };
}

describe('the examples of GraphiQL', () => {
  // The credentials of the first start, which the page is for, do not have the scope `deliver`.
  it('call every operation except `node`, `_service`, deliveries, and those for a policy, a proposal, a credential or a webhook', () => {
    const called = examples.flatMap(({ query }) =>
      [...query.matchAll(/^ {2}(\w+)(?:\(| \{)/gm)].map(([, field]) => field),
    );
    const roots = [servedSchema.getQueryType(), servedSchema.getMutationType(), servedSchema.getSubscriptionType()];
    const fields = roots.flatMap((type) => Object.keys(type?.getFields() ?? {}));
    const ofProposals = ['keyProposal', 'approveKeyProposal', 'rejectKeyProposal', 'withdrawKeyProposal'];
    const ofAdapters = ['deliverKey', 'deliverKeys', 'acknowledgeChanges', 'forgetGateway', 'keyDigest'];
    const ofGateways = [...ofAdapters, 'gateways', 'orgKeyDeployed'];
    const ofCredentials = ['issueKeyCredential', 'rotateKeyCredential', 'revokeKeyCredential'];
    const ofOne = ['node', '_service', 'removeKeyPolicies', ...ofProposals, ...ofCredentials];
    const others = [...ofOne, ...ofGateways, ...fields.filter((field) => /KeyWebhook|^keyWebhook$/.test(field))];
    expect(new Set(called)).toEqual(new Set(fields.filter((field) => !others.includes(field))));
  });

  it.each(examples.map((example) => [nameOf(example), example] as const))(
    'runs %s on the sample keys',
    async (name, example) => {
      const t = await startSample();
      const response = await send(t, example);
      if (name === 'PreviewProblems') {
        expect(response.errors?.[0]?.extensions.code).toBe('INVALID');
        expect(response.errors?.[0]?.extensions.issues.map(({ path }) => path)).toEqual(
          expect.arrayContaining(['rate', 'quotaMax', 'monitor.triggerLimits[0]']),
        );
        return;
      }
      expect(response.errors).toBeUndefined();
      // Nothing has changed yet.
      if (name === 'FollowKeys')
        return expect(response.data).toMatchObject({ orgKeyChanged: { __typename: 'KeyFeedCheckpoint' } });
      // No policy is imported.
      if (name === 'Policies') return expect(response.data).toMatchObject({ keyPolicies: { edges: [] } });
      if (name === 'Proposals') return expect(response.data).toMatchObject({ keyProposals: { edges: [] } });
      if (name === 'Webhooks')
        return expect(response.data).toMatchObject({ keyWebhooks: { edges: [], damagedIDs: [] } });
      if (name === 'PolicyHistory') return expect(response.data).toMatchObject({ keyPolicyHistory: { edges: [] } });
      // Something is there to see.
      expect(Object.values(response.data ?? {})).not.toContain(null);
      expect(JSON.stringify(response.data)).toMatch(/acme|cred_|CHANGED|Billing|modified|"version":\d|true/);
    },
  );

  const forwards = [...examples];
  it.each([
    ['from the first to the last, twice', [...forwards, ...forwards]],
    ['from the last to the first', forwards.toReversed()],
    ['in alphabetical order', forwards.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)))],
  ])('run %s', async (_, order) => {
    const t = await startSample();
    for (const example of order) {
      const { errors = [] } = await send(t, example);
      expect([nameOf(example), errors.map(({ extensions }) => extensions.code)]).toEqual([
        nameOf(example),
        nameOf(example) === 'PreviewProblems' ? ['INVALID'] : [],
      ]);
    }
  });

  it('fetch the next page with the cursor of ListKeys', async () => {
    const t = await startSample();
    const [list] = examples.filter((one) => nameOf(one) === 'ListKeys');
    if (!list) throw new Error('There is no such example.');
    const first = JSON.stringify(await send(t, list));
    const [, cursor = ''] = /"hasNextPage":true,"endCursor":"([^"]+)"/.exec(first) ?? [];
    const next = JSON.stringify(
      await send(t, { ...list, variables: list.variables.replace('"after": null', `"after": "${cursor}"`) }),
    );
    expect(first).toContain('acme-billing');
    expect(next).toContain('acme-mobile');
  });

  it('explain themselves in lines of at most 34 characters, and the credentials in the welcome tab', () => {
    for (const prefix of ['kf_mgt_', 'kf_svc_']) expect(welcome).toContain(prefix);
    const comments = [welcome, ...examples.map(({ query }) => query)].flatMap((text) =>
      text.split('\n').filter((line) => line.startsWith('#')),
    );
    expect(comments.filter((line) => line.length > 34)).toEqual([]);
  });
});
