import { beforeEach, describe, expect, it } from 'vitest';
import { applyDueProposals } from '../../../src/keys/proposals/decide.js';
import { rotateCredential } from '../../../src/credentials/issue.js';
import type { Scope } from '../../../src/keys/key.js';
import { messageOf } from '../../../src/webhooks/event.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { allEvents } from '../../support/feed.js';
import { codeOf, dataOf, errorsOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
let place: EnginePlace;
const hour = 3_600_000;
const day = 24 * hour;

type Headers = Record<string, string>;
interface Shown {
  readonly id: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

const as = async (label: string, scopes?: readonly Scope[], orgID?: string): Promise<Headers> => ({
  'x-svc-authorization': (await t.issue('service', { label, ...(scopes && { scopes }), ...(orgID && { orgID }) }))
    .secret,
});
const fields = `id state kind orgID keyHash expectedVersion needsApproval applyAt expiresAt problem problemIssues { path code }
  changes { path kind before after } proposedBy { label assertedName } isOwn approvedBy { label } endedBy { label } endReason`;
const send = (call: string, headers: Headers, variables?: object) =>
  t.graphql(`mutation { ${call} { ${fields} } }`, variables, headers);
const done = async (call: string, headers: Headers): Promise<Shown> => dataOf<Shown>(await send(call, headers));
const codesOf = async (call: string, headers: Headers) => {
  const response = await send(call, headers);
  return [codeOf(response), ...issuesOf(response).map((issue) => issue.split(' ').at(-1))];
};
const patch = (alias: string) => `change: { patch: { patch: { alias: "${alias}" } } }`;
const propose = (args: string, headers: Headers) => done(`proposeKeyChange(${args})`, headers);
const decide = (
  verb: 'approve' | 'reject' | 'withdraw',
  { id }: Pick<Shown, 'id'>,
  headers: Headers,
  reason?: string,
) => {
  const call = `${verb}KeyProposal(id: "${id}"${reason === undefined ? '' : `, reason: "${reason}"`})`;
  return { run: () => done(call, headers), codes: () => codesOf(call, headers) };
};
const keyOf = async (by = 'keyID: "k1"') =>
  dataOf<Record<string, unknown> | null>(
    await t.graphql(
      `{ orgKey(by: { ${by} }, includeDeleted: true) { version state definition { alias tags }
        history(last: 1) { edges { node { operation actor { label } approvedBy { label } proposalID reason } } } } }`,
    ),
  );
const proposalOf = async ({ id }: Pick<Shown, 'id'>, selection = fields, headers?: Headers) =>
  dataOf<Shown | null>(await t.graphql(`query ($id: ID!) { keyProposal(id: $id) { ${selection} } }`, { id }, headers));
const applyDue = async () => {
  const errors: unknown[] = [];
  const count = await applyDueProposals(t.app.services.ports, (_, error) => errors.push(error));
  expect(errors).toEqual([]);
  return count;
};
const pass = (ms: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + ms);
};
const inOneHour = () => `applyAt: "${new Date(t.clock.now.getTime() + hour).toISOString()}"`;

describeEngines('proposals', (engine) => {
  let ann: Headers;
  let bob: Headers;
  let editor: Headers;

  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one', quota_max: 100, hmac_string: 'canary-stored' });
    ann = await as('Ann', ['read', 'propose', 'approve']);
    bob = await as('Bob', ['read', 'propose', 'approve']);
    editor = await as('Eve', ['read', 'propose', 'update', 'delete', 'create']);
  });

  it('makes a change when another person approves it, and names both in the history', async () => {
    const proposal = await propose(`keyID: "k1", ${patch('two')}, reason: "a new name"`, ann);
    expect(proposal).toMatchObject({
      state: 'OPEN',
      kind: 'PATCH',
      orgID: 'acme',
      keyHash: hashOf('k1'),
      expectedVersion: 1,
      needsApproval: true,
      applyAt: null,
      changes: [{ path: 'alias', kind: 'CHANGED', before: 'one', after: 'two' }],
      proposedBy: { label: 'Ann', assertedName: null },
      approvedBy: null,
    });
    expect(await keyOf()).toMatchObject({ version: 1 });
    expect(await decide('approve', proposal, bob, 'looks right').run()).toMatchObject({
      state: 'APPLIED',
      approvedBy: { label: 'Bob' },
    });
    expect(await keyOf()).toEqual({
      version: 2,
      state: 'ACTIVE',
      definition: { alias: 'two', tags: null },
      history: {
        edges: [
          {
            node: {
              operation: 'UPDATE',
              actor: { label: 'Ann' },
              approvedBy: { label: 'Bob' },
              proposalID: proposal.id,
              reason: 'a new name',
            },
          },
        ],
      },
    });
    expect(await decide('approve', proposal, bob).codes()).toEqual(['CONFLICT', 'PROPOSAL_ENDED']);
    expect(await keyOf()).toMatchObject({ version: 2 });
    expect(await t.app.services.proposals.verify()).toEqual([]);
  });

  it('lets nobody approve alone', async () => {
    const { secret } = await t.issue('service', { label: 'Ann', scopes: ['read', 'approve'] });
    const annsOther = { 'x-svc-authorization': secret };
    const bot = await as('bot', ['read', 'propose', 'approve', 'actor']);
    const named = (name: string, headers: Headers) => ({ ...headers, 'x-keyfront-actor': name });
    const proposal = await propose(`keyID: "k1", ${patch('two')}`, ann);
    expect(await decide('approve', proposal, ann).codes()).toEqual(['FORBIDDEN']);
    expect(await decide('approve', proposal, annsOther).codes()).toEqual(['FORBIDDEN']);
    expect(await decide('approve', proposal, named(' ANN', bot)).codes()).toEqual(['FORBIDDEN']);
    // Two names that one credential asserts are one person.
    const ofBot = await propose(`keyID: "k1", ${patch('three')}`, named('Carl', bot));
    expect(await decide('approve', ofBot, named('Dora', bot)).codes()).toEqual(['FORBIDDEN']);
    expect(await decide('approve', ofBot, await as('carl', ['read', 'approve'])).codes()).toEqual(['FORBIDDEN']);
    // The field says the same as the answers do, also in a list, and after a change by the caller.
    const isOwn = async (one: Shown, headers: Headers) => (await proposalOf(one, 'isOwn', headers))?.['isOwn'];
    expect(await Promise.all([ann, annsOther, named(' ANN', bot), bob, bot].map((by) => isOwn(proposal, by)))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const carl = await as('carl', ['read', 'approve']);
    expect(await Promise.all([named('Dora', bot), bot, carl, ann].map((by) => isOwn(ofBot, by)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const listed = dataOf<{ readonly edges: readonly { readonly node: Shown }[] }>(
      await t.graphql('{ keyProposals { edges { node { id isOwn } } } }', {}, bot),
    );
    expect(new Map(listed.edges.map(({ node }) => [node.id, node['isOwn']]))).toEqual(
      new Map([
        [ofBot.id, true],
        [proposal.id, false],
      ]),
    );
    expect(ofBot).toMatchObject({ isOwn: true });
    expect(await keyOf()).toMatchObject({ version: 1 });
    expect(await proposalOf(proposal)).toMatchObject({ state: 'OPEN', isOwn: false });
    await decide('approve', ofBot, bob).run();
    expect(await keyOf()).toMatchObject({ version: 2 });
  });

  it('asks for the scopes: to propose, to approve, and to change directly', async () => {
    const reader = await as('Ron', ['read']);
    const proposer = await as('Pia', ['read', 'propose']);
    const approver = await as('Ada', ['read', 'approve']);
    expect(await codesOf(`proposeKeyChange(keyID: "k1", ${patch('x')})`, reader)).toEqual(['FORBIDDEN']);
    expect(await codesOf(`proposeKeyChange(keyID: "k1", ${patch('x')})`, approver)).toEqual(['FORBIDDEN']);
    const proposal = await propose(`keyID: "k1", ${patch('x')}`, proposer);
    expect(codeOf(await t.graphql('mutation { patchOrgKey(keyID: "k1", patch: {}) { changed } }', {}, proposer))).toBe(
      'FORBIDDEN',
    );
    for (const verb of ['approve', 'reject'] as const) {
      expect(await decide(verb, proposal, reader).codes()).toEqual(['FORBIDDEN']);
      expect(await decide(verb, proposal, proposer).codes()).toEqual(['FORBIDDEN']);
    }
    expect(await decide('withdraw', proposal, approver).codes()).toEqual(['FORBIDDEN']);
    expect(errorsOf(await send(`withdrawKeyProposal(id: "${proposal.id}")`, ann))).toMatchObject([
      {
        message: 'Only the credential that has proposed the change can withdraw it.',
        extensions: { code: 'FORBIDDEN' },
      },
    ]);
    // With `update` but without a time, another person must approve as well.
    expect(await propose(`keyID: "k1", ${patch('y')}`, editor)).toMatchObject({ needsApproval: true });
    // `propose` alone never schedules alone.
    expect(await propose(`keyID: "k1", ${patch('z')}, ${inOneHour()}`, proposer)).toMatchObject({
      needsApproval: true,
    });
    const updater = await as('Uma', ['read', 'update', 'propose']);
    dataOf(await t.graphql('mutation { rotateOrgKey(keyID: "k1") { changed } }'));
    for (const [change, needsApproval] of [
      ['DELETE', true],
      ['CANCEL_ROTATION', false],
    ] as const) {
      const scheduled = await propose(`keyID: "k1", change: { plain: ${change} }, ${inOneHour()}`, updater);
      expect(scheduled).toMatchObject({ needsApproval });
    }
  });

  it('makes a scheduled change at its time, once, also if the time was missed', async () => {
    const proposal = await propose(`keyID: "k1", ${patch('two')}, ${inOneHour()}`, editor);
    expect(proposal).toMatchObject({ state: 'SCHEDULED', needsApproval: false, expiresAt: null });
    expect(await decide('approve', proposal, bob).codes()).toEqual(['CONFLICT']);
    pass(hour - 1);
    expect(await applyDue()).toBe(0);
    expect(await keyOf()).toMatchObject({ version: 1 });
    pass(5 * day);
    const counts = await Promise.all([applyDue(), applyDue(), applyDue()]);
    expect(Math.max(...counts)).toBe(1);
    expect(await applyDue()).toBe(0);
    expect(await keyOf()).toMatchObject({
      version: 2,
      history: { edges: [{ node: { actor: { label: 'Eve' }, approvedBy: null, proposalID: proposal.id } }] },
    });
  });

  it('waits with an approved change until its time, and rejects or withdraws it before', async () => {
    const make = async () => {
      const proposal = await propose(`keyID: "k1", ${patch('two')}, ${inOneHour()}`, ann);
      expect(await decide('approve', proposal, bob).run()).toMatchObject({ state: 'SCHEDULED' });
      expect(await decide('approve', proposal, await as('Cem', ['read', 'approve'])).codes()).toEqual(['CONFLICT']);
      return proposal;
    };
    const rejected = await make();
    expect(await decide('reject', rejected, bob, 'not now').run()).toMatchObject({
      state: 'REJECTED',
      endedBy: { label: 'Bob' },
      endReason: 'not now',
    });
    expect(await decide('withdraw', await make(), ann).run()).toMatchObject({ state: 'WITHDRAWN' });
    const applied = await make();
    pass(hour);
    expect(await applyDue()).toBe(1);
    expect(await proposalOf(applied)).toMatchObject({ state: 'APPLIED', approvedBy: { label: 'Bob' } });
    expect(await keyOf()).toMatchObject({ version: 2 });
  });

  it('expires without an approval', async () => {
    const timed = await propose(`keyID: "k1", ${patch('two')}, ${inOneHour()}`, ann);
    const untimed = await propose(`keyID: "k1", ${patch('three')}`, ann);
    pass(hour);
    // Also before any process has ended it.
    expect(await decide('approve', timed, bob).codes()).toEqual(['CONFLICT', 'PROPOSAL_ENDED']);
    expect(await proposalOf(timed)).toMatchObject({ state: 'EXPIRED' });
    pass(30 * day);
    expect(await applyDue()).toBe(1);
    expect(await proposalOf(untimed)).toMatchObject({ state: 'EXPIRED' });
    expect(await keyOf()).toMatchObject({ version: 1 });
  });

  it('is stale at its approval or its time, if the credential of its proposer is revoked or expired', async () => {
    const { credentials } = t.app.services;
    const idOf = async (label: string) => (await credentials.list()).find((one) => one.label === label)?.id ?? '';
    const revoked = [
      await propose(`keyID: "k1", ${patch('two')}`, ann),
      await propose(`keyID: "k1", ${patch('three')}, ${inOneHour()}`, ann),
      await propose(`keyID: "k1", ${patch('four')}, ${inOneHour()}`, ann),
    ] as const;
    const scheduled = await propose(`keyID: "k1", ${patch('five')}, ${inOneHour()}`, editor);
    // Before the revocation: it waits for its time.
    expect(await decide('approve', revoked[2], bob).run()).toMatchObject({ state: 'SCHEDULED' });
    for (const label of ['Ann', 'Eve']) await credentials.revoke(await idOf(label), t.clock.now);
    expect(await proposalOf(revoked[0])).toMatchObject({ state: 'OPEN' });
    const problem = 'The credential that has proposed the change is revoked. Propose the change again.';
    const stale = { state: 'STALE', problem, problemIssues: [], approvedBy: null };
    for (const proposal of revoked.slice(0, 2)) {
      expect(await decide('approve', proposal, bob).run()).toMatchObject({ ...stale, endedBy: { label: 'Bob' } });
      expect(await decide('approve', proposal, bob).codes()).toEqual(['CONFLICT', 'PROPOSAL_ENDED']);
    }
    pass(hour);
    expect(await applyDue()).toBe(2);
    expect(await proposalOf(revoked[2])).toMatchObject({ ...stale, approvedBy: { label: 'Bob' }, endedBy: null });
    expect(await proposalOf(scheduled)).toMatchObject({ ...stale, endedBy: null });
    expect(await keyOf()).toMatchObject({ version: 1, definition: { alias: 'one' } });

    const expires = new Date(t.clock.now.getTime() + hour / 2);
    const { secret } = await t.issue('service', { label: 'Ida', scopes: ['read', 'propose'], expires });
    const late = await propose(`keyID: "k1", ${patch('six')}`, { 'x-svc-authorization': secret });
    pass(hour);
    expect(await decide('approve', late, bob).run()).toMatchObject({
      state: 'STALE',
      problem: 'The credential that has proposed the change is expired. Propose the change again.',
    });
    expect(await keyOf()).toMatchObject({ version: 1 });
  });

  it('is applied after a rotation with an overlap, as long as the successor is not revoked', async () => {
    const { credentials } = t.app.services;
    const idOf = async (label: string) =>
      (await credentials.list()).findLast((one) => one.label === label && !one.successorID)?.id ?? '';
    const proposals = [
      await propose(`keyID: "k1", ${patch('two')}`, ann),
      await propose(`keyID: "k1", ${patch('three')}`, ann),
    ] as const;
    await rotateCredential(credentials, await idOf('Ann'), hour, t.clock.now);
    pass(2 * hour);
    expect(await decide('approve', proposals[0], bob).run()).toMatchObject({ state: 'APPLIED' });
    const again = await propose(`keyID: "k1", ${patch('four')}`, bob);
    await rotateCredential(credentials, await idOf('Bob'), 0, t.clock.now);
    const cem = await as('Cem', ['read', 'approve']);
    // It may have leaked.
    expect(await decide('approve', again, cem).run()).toMatchObject({ state: 'STALE' });
    await credentials.revoke(await idOf('Ann'), t.clock.now);
    expect(await decide('approve', proposals[1], cem).run()).toMatchObject({
      state: 'STALE',
      problem: expect.stringContaining('is revoked') as string,
    });
  });

  it('becomes stale when the key has changed, names the fields, and offers a new preview', async () => {
    const proposal = await propose(`keyID: "k1", ${patch('two')}`, ann);
    const scheduled = await propose(`keyID: "k1", ${patch('three')}, ${inOneHour()}`, editor);
    dataOf(await t.graphql('mutation { patchOrgKey(keyID: "k1", patch: { tags: ["paid"] }) { changed } }'));
    expect(await decide('approve', proposal, bob).run()).toMatchObject({
      state: 'STALE',
      approvedBy: null,
      endedBy: { label: 'Bob' },
      problem: 'The key has version 2; the expected version is 1.',
      problemIssues: [{ path: 'tags', code: 'CHANGED_SINCE' }],
    });
    expect(await proposalOf(proposal, 'preview { version changes { path before after } } orgKey { version }')).toEqual({
      preview: { version: 3, changes: [{ path: 'alias', before: 'one', after: 'two' }] },
      orgKey: { version: 2 },
    });
    pass(hour);
    expect(await applyDue()).toBe(1);
    expect(await proposalOf(scheduled)).toMatchObject({ state: 'STALE', endedBy: null });
    expect(await keyOf()).toMatchObject({ version: 2, definition: { alias: 'one' } });
  });

  it('does not change a key that was deleted, or purged and created again', async () => {
    const deleted = await propose(`keyID: "k1", ${patch('two')}`, ann);
    dataOf(await t.graphql('mutation { deleteOrgKey(keyID: "k1") { changed } }'));
    expect(await decide('approve', deleted, bob).run()).toMatchObject({
      state: 'STALE',
      problem: 'There is no such key.',
    });
    await t.importKeys({ key_id: 'k2', org_id: 'acme', alias: 'one' });
    const again = await propose(`keyID: "k2", ${patch('two')}`, ann);
    dataOf(await t.graphql('mutation { deleteOrgKey(keyID: "k2") { changed } }'));
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1));
    await t.importKeys({ key_id: 'k2', org_id: 'acme', alias: 'one' });
    expect(await decide('approve', again, bob).run()).toMatchObject({ state: 'STALE' });
    expect(await keyOf('keyID: "k2"')).toMatchObject({ version: 1, definition: { alias: 'one' } });
  });

  it('makes every kind of change', async () => {
    const kinds = [
      ['change: { update: { input: { alias: "replaced" } } }', 'UPDATE'],
      ['change: { patch: { patch: { tags: ["a"] }, resetQuota: true } }', 'UPDATE'],
      ['change: { revert: { toVersion: 1 } }', 'REVERT'],
      ['change: { rotate: { overlap: 3600 } }', 'ROTATE'],
      ['change: { plain: CANCEL_ROTATION }', 'CANCEL_ROTATION'],
      ['change: { plain: DELETE }', 'DELETE'],
      ['change: { plain: RESTORE }', 'RESTORE'],
    ] as const;
    for (const [index, [change, operation]] of kinds.entries()) {
      const proposal = await propose(`keyHash: "${hashOf('k1')}", ${change}`, ann);
      expect(await decide('approve', proposal, bob).run()).toMatchObject({
        state: 'APPLIED',
        expectedVersion: index + 1,
      });
      expect(await keyOf(`keyHash: "${hashOf('k1')}"`)).toMatchObject({
        version: index + 2,
        history: { edges: [{ node: { operation, proposalID: proposal.id } }] },
      });
    }
    const created = await propose('change: { create: { input: { orgID: "acme", alias: "new" } } }', ann);
    expect(created).toMatchObject({ kind: 'CREATE', expectedVersion: 0 });
    expect(await keyOf(`keyHash: "${String(created.keyHash)}"`)).toBeNull();
    await decide('approve', created, bob).run();
    expect(await keyOf(`keyHash: "${String(created.keyHash)}"`)).toMatchObject({
      version: 1,
      definition: { alias: 'new' },
    });
    const named = 'change: { create: { keyID: "k3", input: { orgID: "acme" } } }';
    const [first, second] = [await propose(named, ann), await propose(named, ann)];
    await decide('approve', first, bob).run();
    expect(await decide('approve', second, bob).run()).toMatchObject({ state: 'STALE' });
    expect(await proposalOf(second, 'preview { version }')).toEqual({ preview: null });
  });

  it('shows the identifier hash in the preview of a rotation that the key gets', async () => {
    const proposal = await propose('keyID: "k1", change: { rotate: {} }', ann);
    const changes = proposal['changes'] as { path: string; after: unknown }[];
    const shown = changes.find(({ path }) => path === 'identifierHash')?.after;
    await decide('approve', proposal, bob).run();
    expect(dataOf(await t.graphql(`{ orgKey(by: { keyHash: "${hashOf('k1')}" }) { identifierHash } }`))).toEqual({
      identifierHash: shown,
    });
  });

  it('applies once when two people approve at once', async () => {
    const cem = await as('Cem', ['read', 'approve']);
    for (let version = 1; version <= 5; version += 1) {
      const proposal = await propose(`keyID: "k1", ${patch(`v${version}`)}`, ann);
      const responses = await Promise.all(
        [bob, cem, bob].map((headers) => send(`approveKeyProposal(id: "${proposal.id}")`, headers)),
      );
      const winners = responses.filter((response) => codeOf(response) === undefined);
      expect(winners.length).toBeGreaterThan(0);
      expect(await keyOf()).toMatchObject({ version: version + 1 });
      expect(await proposalOf(proposal)).toMatchObject({ state: 'APPLIED' });
    }
    const rows = await place.rows('SELECT id FROM proposal_steps');
    expect(rows).toHaveLength(10);
  });

  it('applies or withdraws, and never both', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = Number((await keyOf())?.['version']);
      const proposal = await propose(`keyID: "k1", ${patch(`r${round}`)}`, ann);
      const decisions = [
        () => send(`approveKeyProposal(id: "${proposal.id}")`, bob),
        () => send(`withdrawKeyProposal(id: "${proposal.id}")`, ann),
      ];
      if (round % 2 === 1) decisions.reverse();
      const codes = (await Promise.all(decisions.map((decision) => decision()))).map(codeOf);
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(codes.filter((code) => code === 'CONFLICT')).toHaveLength(1);
      const { state } = (await proposalOf(proposal)) ?? { state: 'none' };
      expect(Number((await keyOf())?.['version'])).toBe(state === 'APPLIED' ? before + 1 : before);
    }
  });

  it('keeps secrets sealed, shows them to nobody, and deletes them with the end', async () => {
    const secret = 'canary-proposed';
    const change = `change: { patch: { patch: { hmacString: "${secret}", basicAuthData: { password: "${secret}-2" }, alias: "s" } } }`;
    const sealed = async () =>
      (await place.rows<{ sealed: unknown }>('SELECT sealed FROM proposals ORDER BY at, id')).map(
        (row) => row.sealed !== null,
      );
    const proposal = await propose(`keyID: "k1", ${change}`, ann);
    expect(proposal['changes']).toContainEqual({ path: 'hmacString', kind: 'NOT_COMPARED', before: null, after: null });
    // The stored secret is not compared either: it cannot be guessed.
    const guess = await propose('keyID: "k1", change: { patch: { patch: { hmacString: "canary-stored" } } }', ann);
    expect(guess['changes']).toEqual([{ path: 'hmacString', kind: 'NOT_COMPARED', before: null, after: null }]);
    expect(await sealed()).toEqual([true, true]);
    // It changes nothing, and is applied all the same.
    expect(await decide('approve', guess, bob).run()).toMatchObject({
      state: 'APPLIED',
      approvedBy: { label: 'Bob' },
    });
    expect(await keyOf()).toMatchObject({ version: 1 });
    dataOf(await t.graphql('mutation { patchOrgKey(keyID: "k1", patch: { tags: ["x"] }) { changed } }'));
    await decide('approve', proposal, bob).run();
    // A stale one keeps what a new preview needs, without the secrets.
    const shown = await proposalOf(proposal, 'state preview { changes { path kind } }');
    expect(shown).toEqual({ state: 'STALE', preview: { changes: [{ path: 'alias', kind: 'CHANGED' }] } });
    const applied = await propose(`keyID: "k1", ${change}`, ann);
    await decide('approve', applied, bob).run();
    expect((await sealed()).filter(Boolean)).toHaveLength(1);
    const { store, sealer } = t.app.services;
    const key = await store.find(hashOf('k1'));
    expect(sealer.open(key?.secrets.hmacString ?? new Uint8Array(), `keys|${hashOf('k1')}|hmacString`)).toBe(secret);
    const everything = JSON.stringify(
      [
        t.logs(),
        await place.rows('SELECT * FROM history'),
        await place.rows('SELECT id, content FROM proposals'),
        await place.rows('SELECT * FROM proposal_steps'),
        await t.graphql(
          `{ keyProposals { edges { node { ${fields} preview { definition { alias } changes { path before after } } } } } }`,
        ),
        (await allEvents(t, place)).map(({ entry }) => entry && messageOf(entry)),
      ],
      (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
    );
    expect(everything).toContain('"s"');
    expect(everything).not.toContain('canary');
  });

  it('shows nothing to another organization', async () => {
    const proposal = await propose(`keyID: "k1", ${patch('two')}`, ann);
    const all: readonly Scope[] = ['read', 'propose', 'approve', 'update'];
    const other = await as('Otto', all, 'globex');
    const own = await as('Olga', all, 'acme');
    expect(await proposalOf(proposal, 'state', other)).toBeNull();
    const list = async (headers: Headers, args = '') =>
      dataOf<{ edges: unknown[] }>(await t.graphql(`{ keyProposals${args} { edges { node { id } } } }`, {}, headers))
        .edges;
    expect(await list(other)).toEqual([]);
    expect(await list(other, '(orgID: "acme")')).toEqual([]);
    expect(await list(own)).toHaveLength(1);
    const absent = { id: `prop_${'0'.repeat(32)}` };
    for (const verb of ['approve', 'reject', 'withdraw'] as const) {
      expect(await decide(verb, proposal, other).codes()).toEqual(await decide(verb, absent, other).codes());
    }
    expect(await codesOf(`proposeKeyChange(keyID: "k1", ${patch('x')})`, other)).toEqual(['NOT_FOUND']);
    expect(
      await codesOf(
        'proposeKeyChange(change: { create: { input: { orgID: "acme" } } })',
        await as('Ole', ['read', 'propose'], 'globex'),
      ),
    ).toEqual(['FORBIDDEN']);
    await decide('approve', proposal, own).run();
    expect(await keyOf()).toMatchObject({ version: 2 });
  });

  it('lists proposals by page, state, organization and key', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'globex' });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const keyID = index === 2 ? 'k2' : 'k1';
      ids.unshift((await propose(`keyID: "${keyID}", ${patch(`p${index}`)}`, ann)).id);
      pass(1000);
    }
    await decide('withdraw', { id: String(ids[0]) }, ann).run();
    interface Page {
      readonly edges: { node: { id: string } }[];
      readonly pageInfo: { hasNextPage: boolean; endCursor: string | null };
    }
    const list = async (args: string) =>
      dataOf<Page>(
        await t.graphql(`{ keyProposals(${args}) { edges { node { id } } pageInfo { hasNextPage endCursor } } }`),
      );
    const idsOf = (page: Page) => page.edges.map(({ node }) => node.id);
    const first = await list('first: 2');
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    const second = await list(`first: 2, after: "${String(first.pageInfo.endCursor)}"`);
    expect(idsOf(second)).toEqual(ids.slice(2, 4));
    const third = await list(`first: 2, after: "${String(second.pageInfo.endCursor)}"`);
    expect(idsOf(third)).toEqual(ids.slice(4));
    expect(third.pageInfo.hasNextPage).toBe(false);
    expect(idsOf(await list('states: [OPEN]'))).toEqual(ids.slice(1));
    expect(idsOf(await list('states: [OPEN], first: 1, orgID: "globex"'))).toEqual([ids[2]]);
    expect(idsOf(await list(`keyHash: "${hashOf('k2')}"`))).toEqual([ids[2]]);
    expect(idsOf(await list('states: [WITHDRAWN, APPLIED]'))).toEqual([ids[0]]);
    for (const args of ['first: 1, after: "x"', 'last: 1', 'first: -1']) {
      expect(codeOf(await t.graphql(`{ keyProposals(${args}) { edges { cursor } } }`))).toBe('INVALID');
    }
  });

  it('rejects what is malformed, and stores nothing', async () => {
    const cases = [
      [`keyID: "k1", change: { patch: { patch: { alias: "one" } } }`, 'NO_CHANGE'],
      [`keyID: "k1", ${patch('x')}, applyAt: "2026-01-31T12:00:00Z"`, 'OUT_OF_RANGE'],
      [`keyID: "k1", ${patch('x')}, applyAt: "2026-05-02T12:00:00Z"`, 'OUT_OF_RANGE'],
      [`keyID: "k1", ${patch('x')}, applyAt: "soon"`, 'MALFORMED_DATE'],
      [`keyID: "k1", ${patch('x')}, reason: "${'r'.repeat(501)}"`, 'TOO_LONG'],
      [`${patch('x')}`, 'MISSING'],
      ['keyID: "k1", change: { create: { input: { orgID: "acme" } } }', 'MALFORMED_ARGUMENT'],
      ['change: { create: { keyID: "a/b", input: { orgID: "acme" } } }', 'MALFORMED_KEY_ID'],
      ['keyID: "k1", change: { patch: { patch: { quotaMax: "x" } } }', 'WRONG_TYPE'],
      ['keyID: "k1", change: { patch: { patch: { alias: "a" } }, plain: DELETE }', 'MALFORMED_ARGUMENT'],
      [`keyID: "large", change: { patch: { patch: { metaData: $large } } }`, 'TOO_LONG'],
    ] as const;
    const large = { text: 'x'.repeat(50_000), more: 'x'.repeat(50_000) };
    await t.importKeys({ key_id: 'large', org_id: 'acme', meta_data: { text: 'y'.repeat(60_000) } });
    for (const [args, code] of cases) {
      const query = args.includes('$large') ? 'mutation ($large: JSON)' : 'mutation';
      const response = await t.graphql(
        `${query} { proposeKeyChange(${args}) { id } }`,
        args.includes('$large') ? { large } : {},
        ann,
      );
      expect([args.slice(0, 80), codeOf(response), issuesOf(response)[0]?.split(' ').at(-1)]).toEqual([
        args.slice(0, 80),
        'INVALID',
        code,
      ]);
    }
    expect(await codesOf(`proposeKeyChange(keyID: "k1", ${patch('x')}, expectedVersion: 7)`, ann)).toEqual([
      'CONFLICT',
    ]);
    expect(errorsOf(await send(`proposeKeyChange(keyID: "none", ${patch('x')})`, ann))).toMatchObject([
      { message: 'There is no such key.', extensions: { code: 'NOT_FOUND' } },
    ]);
    expect(errorsOf(await send(`proposeKeyChange(keyID: "k1", ${patch('one')})`, ann))).toMatchObject([
      { extensions: { issues: [{ path: 'change', message: 'must change something of the key' }] } },
    ]);
    expect(await codesOf('proposeKeyChange(keyID: "k1", change: { plain: RESTORE })', ann)).toEqual(['NOT_FOUND']);
    const proposal = await propose(`keyID: "k1", ${patch('x')}`, ann);
    expect(await codesOf(`approveKeyProposal(id: "${proposal.id}", reason: "${'r'.repeat(501)}")`, bob)).toEqual([
      'INVALID',
      'TOO_LONG',
    ]);
    expect(await place.rows('SELECT id FROM proposals')).toHaveLength(1);
    expect(await keyOf()).toMatchObject({ version: 1 });
  });

  it('has at most 100 that have not ended, of each organization, and repeats none', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'globex' });
    const call = (index: number) => `proposeKeyChange(keyID: "k1", ${patch(`p${index}`)}, idempotencyKey: "i${index}")`;
    const first = await done(call(0), ann);
    expect(await done(call(0), ann)).toMatchObject({ id: first.id });
    const responses = await Promise.all(Array.from({ length: 105 }, (_, index) => send(call(index + 1), ann)));
    expect(responses.filter((response) => codeOf(response) === 'CONFLICT')).toHaveLength(6);
    expect(await place.rows("SELECT id FROM proposals WHERE state = 'OPEN'")).toHaveLength(100);
    await propose(`keyID: "k2", ${patch('x')}`, ann);
    await decide('withdraw', first, ann).run();
    await propose(`keyID: "k1", ${patch('more')}`, ann);
  });

  it('sends an event for each step, without names, and removes what ended long ago', async () => {
    const rejected = await propose(`keyID: "k1", ${patch('a')}`, ann);
    await decide('reject', rejected, bob).run();
    await decide('withdraw', await propose(`keyID: "k1", ${patch('a')}`, ann), ann).run();
    const timed = await propose(`keyID: "k1", ${patch('b')}, ${inOneHour()}`, ann);
    await decide('approve', timed, bob).run();
    const open = await propose(`keyID: "k1", ${patch('d')}, ${inOneHour()}`, ann);
    const stale = await propose(`keyID: "k1", ${patch('c')}, ${inOneHour()}`, editor);
    pass(hour);
    expect(await applyDue()).toBe(3);
    expect([(await proposalOf(open))?.state, (await proposalOf(stale))?.state]).toEqual(['EXPIRED', 'STALE']);
    const events = await allEvents(t, place);
    const kinds = events.map(({ notice, entry }) => notice?.kind ?? entry?.operation);
    expect(kinds.slice(0, 8)).toEqual([
      'import',
      'proposed',
      'proposal_rejected',
      'proposed',
      'proposal_withdrawn',
      'proposed',
      'proposal_approved',
      'proposed',
    ]);
    expect(kinds.slice(8).toSorted()).toEqual(['proposal_expired', 'proposal_stale', 'proposed', 'update']);
    expect(events[2]?.notice).toMatchObject({
      keyHash: hashOf('k1'),
      orgID: 'acme',
      proposalID: rejected.id,
      version: 1,
    });
    const applied = events.find(({ entry }) => entry?.operation === 'update')?.entry;
    expect(JSON.parse(applied ? messageOf(applied).body : '{}')).toMatchObject({
      data: { actor: { label: 'Ann' }, proposal: { id: timed.id, approved_by: { label: 'Bob' } } },
    });
    const { proposals } = t.app.services;
    expect(await proposals.purge(t.clock.now)).toBe(2);
    pass(1);
    expect(await proposals.purge(t.clock.now)).toBe(3);
    expect(await place.rows('SELECT id FROM proposal_steps')).toEqual([]);
  });

  it('believes no row that was changed', async () => {
    const proposal = await propose(`keyID: "k1", ${patch('two')}`, ann);
    await place.run(`UPDATE proposals SET content = replace(content, '"needsApproval":true', '"needsApproval":false')`);
    expect(await decide('approve', proposal, bob).codes()).toEqual(['INTERNAL']);
    expect(codeOf(await t.graphql(`{ keyProposal(id: "${proposal.id}") { id } }`))).toBe('INTERNAL');
    expect(await t.app.services.proposals.verify()).toHaveLength(1);
    const page = await t.graphql('{ keyProposals { edges { node { id } } } }');
    expect(codeOf(page)).toBe('INTERNAL');
    expect(await keyOf()).toMatchObject({ version: 1 });
  });
});

describe('a proposal whose rows were put back', () => {
  it('is not applied twice', async () => {
    t = await startOwnApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    const { proposals } = t.app.services;
    const [ann, bob] = [await as('Ann'), await as('Bob')];
    const proposal = await propose(`keyID: "k1", ${patch('two')}`, ann);
    const before = await proposals.find(proposal.id);
    await decide('approve', proposal, bob).run();
    // As if the end were removed from the database.
    const { ports } = t.app.services;
    const removed = { ...ports, proposals: { ...proposals, find: () => Promise.resolve(before) } };
    const { approveProposal } = await import('../../../src/keys/proposals/decide.js');
    const caller = { credentialID: 'c', label: 'Cem', orgID: undefined, requestID: 'r' };
    await expect(approveProposal(removed, caller, { id: proposal.id })).rejects.toThrow();
    expect(await keyOf()).toMatchObject({ version: 2 });
  });
});
