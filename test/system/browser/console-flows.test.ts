import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { giveUp, hookTo, quick } from '../../support/webhooks.js';
import { describeInBrowser } from './browser.js';
import { consoleKeys, consolePolicies } from './console-keys.js';
import { openConsole, type ConsolePage } from './console-page.js';
import { photographConsole } from './photograph.js';

/** The window at each size. At 200 %, a window of 1440 pixels has room for 720. */
const sizes = {
  '1440': { width: 1440, height: 900 },
  '1024': { width: 1024, height: 768 },
  '390': { width: 390, height: 844 },
  '1440 at 200 %': { width: 720, height: 450 },
};

describeInBrowser('each flow of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  const key = (name: string) => `/console/keys/${hashOf(name)}`;
  beforeEach(async () => {
    // Nothing is delivered.
    server = await startServer({}, {}, { dispatcherOptions: { ...quick, pollIntervalMs: 2 ** 31 - 1 } });
    // The browser has its own clock.
    server.t.clock.now = new Date();
    await server.t.importKeys(...consoleKeys(Date.now()));
    await importPolicies(server.t, ...consolePolicies);
    const { t } = server;
    const consume = (keyID: string, amount: number) =>
      t.graphql(
        'mutation ($keyID: ID!, $amount: Int64) { consumeOrgQuota(keyID: $keyID, amount: $amount) { allowed } }',
        {
          keyID,
          amount,
        },
      );
    await consume('acme-billing', 8120);
    await consume('acme-mobile', 34_102);
    await consume('acme-partner', 1000);
    const patch = (keyID: string, patch: object, reason: string) =>
      t.graphql(
        'mutation ($keyID: ID, $patch: PatchKeyInput!, $reason: String) { patchOrgKey(keyID: $keyID, patch: $patch, reason: $reason) { version } }',
        { keyID, patch, reason },
        { 'x-keyfront-actor': 'dana@acme.example' },
      );
    await patch('acme-billing', { rate: 200 }, 'larger plan');
    await patch('acme-report', { isInactive: true }, 'replaced by the new job');
  });
  afterEach(() => server.close());

  const signIn = () => c.signIn(server.t.service);
  const edit = async (name: string) => {
    await c.go(`${key(name)}?edit=yes`);
    await signIn();
    await c.heading(/Edit key/);
  };
  /** A webhook with dead letters, one of which is queued again. */
  const someWebhook = async () => {
    const eventTypes = ['orgKey.created', 'orgKey.expired'];
    const { id } = await hookTo(server.t, 'http://127.0.0.1:1/', { label: 'billing', orgID: 'acme', eventTypes });
    await giveUp(server.t, id, ...Array.from({ length: 24 }, (_, number) => `evt_${'0'.repeat(40)}${number}`));
    const replay =
      'mutation ($id: ID!, $eventID: ID) { replayKeyWebhookDeadLetters(id: $id, eventID: $eventID) { count } }';
    await server.t.graphql(replay, { id, eventID: `evt_${'0'.repeat(40)}1` });
    return id;
  };
  const someCredentials = async () => {
    await server.t.issue('service', { label: 'billing dashboard', scopes: ['read'], orgID: 'acme' });
    const expires = new Date(Date.now() + 86_400_000);
    await server.t.issue('service', { label: 'a job with a long name '.repeat(8).trim(), orgID: 'globex', expires });
    const { id } = await server.t.issue('service', { label: 'old job', scopes: ['verify', 'deliver', 'router'] });
    await server.t.graphql('mutation ($id: ID!) { revokeKeyCredential(id: $id) { id } }', { id });
  };
  /** The way to each state of a page, from the form to sign in. */
  const flows: Record<string, () => Promise<void>> = {
    'sign-in': async () => {
      await c.signIn('kf_mgt_');
      await c.page.getByText('This is a management credential.').waitFor();
    },
    list: async () => {
      await signIn();
      await c.page.getByRole('table').waitFor();
      await c.page.locator('.tabs .count', { hasText: '6' }).waitFor();
    },
    search: async () => {
      await signIn();
      await c.page.getByRole('combobox').fill('bil');
      await c.page.getByRole('option', { name: 'Tag billing' }).waitFor();
    },
    'no match': async () => {
      await c.go('/console?tag=nothing');
      await signIn();
      await c.page.getByRole('heading', { name: 'No key matches' }).waitFor();
    },
    account: async () => {
      await signIn();
      await c.page.locator('.account summary').click();
      await c.page.getByText('all organizations').waitFor();
    },
    key: async () => {
      await c.go(key('acme-billing'));
      await signIn();
      await c.card('Activity').getByText('larger plan').waitFor();
    },
    'rejected key': async () => {
      await c.go(key('acme-partner'));
      await signIn();
      await c.page.getByText('Gateways reject this key: its quota is used up.').waitFor();
    },
    'reset of a quota': async () => {
      await c.go(key('acme-billing'));
      await signIn();
      await c.button('Reset quota').click();
      await c.page.getByRole('dialog').getByText('8,120').waitFor();
    },
    edit: async () => {
      await edit('acme-billing');
      await c.field('rate').fill('300');
      await c.button('Save 1 change').waitFor();
    },
    'edit with problems': async () => {
      await edit('acme-billing');
      await c.field('rate').fill('-5');
      await c.page.getByText('Rate must be at least -1').waitFor();
      for (const topic of await c.page.locator('.advanced summary').all()) await topic.click();
      await c.page.getByText('invoices', { exact: true }).click();
    },
    merge: async () => {
      await edit('acme-report');
      await c.field('alias').fill('Mine');
      await c.button('Save 1 change').waitFor();
      await server.t.update('acme-report', { alias: 'Theirs', rate: 20, per: 60 });
      await c.button('Merge …').click();
      await c.page.getByText('Choose a value for each').waitFor();
    },
    create: async () => {
      await c.go('/console/new');
      await signIn();
      await c.heading('Create key');
    },
    created: async () => {
      await c.go('/console/new');
      await signIn();
      await c.field('orgID').fill('acme');
      await c.field('alias').fill('New one');
      await c.button('Create key').click();
      await c.heading('New one is created');
    },
    'bulk, dry run': async () => {
      await c.go('/console/bulk?org=acme');
      await signIn();
      await c.page.getByLabel('Field').selectOption('rate');
      await c.field('rate').fill('50');
      await c.button('Try it').click();
      await c.button('Apply to 4 keys').waitFor();
    },
    restore: async () => {
      const headers = { 'x-svc-authorization': server.t.service };
      await server.t.send('/svc/org/keys/globex-trial', { method: 'DELETE', headers });
      await c.go(key('globex-trial'));
      await signIn();
      await c.button('Restore …').click();
      await c.page.getByRole('dialog').getByText('gateways accept it again').waitFor();
    },
    revert: async () => {
      await c.go(key('acme-billing'));
      await signIn();
      await c.button('Revert to version 1').click();
      await c.page.getByRole('dialog').getByText('These fields change.').waitFor();
    },
    'no connection': async () => {
      await signIn();
      await c.page.getByText('Live', { exact: true }).waitFor();
      for (const path of ['**/graphql', '**/icon.svg']) {
        await c.page.route(path, (route) => route.abort('connectionrefused'));
      }
      await c.go('/console?org=acme');
      await c.page.getByText('Keyfront does not respond.').waitFor();
    },
    organizations: async () => {
      await c.go('/console/organizations');
      await signIn();
      await c.page.getByText('2 keys').waitFor();
    },
    'no gateways': async () => {
      await c.go('/console/gateways');
      await signIn();
      await c.page.getByRole('heading', { name: 'No gateway says what it has' }).waitFor();
    },
    gateways: async () => {
      const { feed, gateways } = server.t.app.services;
      const cursor = await feed.latestCursor();
      const at = server.t.clock.now;
      await gateways.acknowledge({ orgID: undefined, name: 'edge-1', cursor, digest: 'ab'.repeat(32), at });
      await gateways.acknowledge({ orgID: 'acme', name: 'edge-2', cursor: undefined, digest: undefined, at });
      await c.go('/console/gateways');
      await signIn();
      await c.button('Compare edge-1').click();
      await c.page.getByText('differs, or a change is on the way').waitFor();
    },
    'no proposals': async () => {
      await c.go('/console/proposals');
      await signIn();
      await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    },
    'approval of a proposal': async () => {
      const { secret } = await server.t.issue('service', { label: 'Ann', scopes: ['read', 'propose'] });
      await server.t.graphql(
        'mutation { proposeKeyChange(keyID: "acme-billing", change: { patch: { patch: { rate: 300 } } }, reason: "OPS-812") { id } }',
        {},
        { 'x-svc-authorization': secret },
      );
      await c.go('/console/proposals');
      await signIn();
      await c.button(/^Approve/).click();
      await c.page.getByText('What the change would do now:').waitFor();
    },
    'a proposal on the page of its key': async () => {
      const { secret } = await server.t.issue('service', { label: 'Ann', scopes: ['read', 'propose'] });
      await server.t.graphql(
        'mutation { proposeKeyChange(keyID: "acme-billing", change: { patch: { patch: { rate: 300 } } }, reason: "OPS-812") { id } }',
        {},
        { 'x-svc-authorization': secret },
      );
      await c.go(key('acme-billing'));
      await signIn();
      await c.card('Proposed changes').getByText('OPS-812').waitFor();
    },
    'limits from a policy': async () => {
      await c.go(key('acme-mobile'));
      await signIn();
      await c.card('Limits and access').getByText('from policy').first().waitFor();
    },
    'allowed request': async () => {
      await c.go(key('acme-billing'));
      await signIn();
      await c.page.getByLabel('Path').fill('/invoices/7');
      await c.button('Check').click();
      await c.button('Check as if the client had proved it').click();
      await c.page.getByText('Allowed by the path').waitFor();
    },
    'denied request': async () => {
      await c.go(key('acme-mobile'));
      await signIn();
      await c.page.getByLabel('Path').fill('/orders/7');
      await c.button('Check').click();
      await c.page.getByText('METHOD_OR_PATH_DENIED').waitFor();
    },
    policies: async () => {
      await c.go('/console/policies');
      await signIn();
      await c.link('Standard').waitFor();
    },
    policy: async () => {
      await c.go('/console/policies/standard');
      await signIn();
      await c.page.getByText('1 key name').waitFor();
      await c.field('rate').fill('10');
      await c.button('Show the impact').click();
      await c.link('Mobile application').waitFor();
    },
    changes: async () => {
      await c.go('/console/changes');
      await signIn();
      await c.page.getByText('replaced by the new job').waitFor();
    },
    credentials: async () => {
      await someCredentials();
      await c.go('/console/credentials');
      await signIn();
      await c.page.getByText('billing dashboard').waitFor();
    },
    'issue a credential': async () => {
      await c.go('/console/credentials');
      await signIn();
      await c.button('Issue credential …').click();
      await c.button('Issue the credential').click();
      await c.page.getByRole('checkbox', { name: /^read/ }).uncheck();
      await c.page.getByLabel('Label').fill('dashboard');
      await c.button('Issue the credential').click();
      await c.page.getByText('Choose at least one.').waitFor();
    },
    'issued credential': async () => {
      await c.go('/console/credentials');
      await signIn();
      await c.button('Issue credential …').click();
      await c.page.getByLabel('Label').fill('dashboard');
      await c.button('Issue the credential').click();
      await c.page.getByRole('heading', { name: 'dashboard is issued' }).waitFor();
    },
    'rotate a credential': async () => {
      await c.go('/console/credentials');
      await signIn();
      await c.page.getByRole('row', { name: /yours/ }).getByRole('button', { name: 'Rotate …' }).click();
      await c.page.getByText('You are signed in with this credential.').waitFor();
    },
    'revoke the own credential': async () => {
      await c.go('/console/credentials');
      await signIn();
      await c.page.getByRole('row', { name: /yours/ }).getByRole('button', { name: 'Revoke …' }).click();
      await c.page.getByText('You are signed in with this credential.').waitFor();
    },
    webhooks: async () => {
      await someWebhook();
      await c.go('/console/webhooks');
      await signIn();
      await c.link('billing').waitFor();
    },
    'add a webhook': async () => {
      await c.go('/console/webhooks');
      await signIn();
      await c.button('Add webhook …').click();
      await c.page.getByLabel('Address').fill('https://example.com/');
      await c.page.getByRole('dialog').getByRole('combobox').selectOption('Only these events');
      await c.button('Add the webhook').click();
      await c.page.getByText('Choose at least one.').waitFor();
    },
    webhook: async () => {
      await c.go(`/console/webhooks/${await someWebhook()}`);
      await signIn();
      await c.button('Send a test message').click();
      await c.page.getByText('Not delivered').waitFor();
    },
    'discard dead letters': async () => {
      await c.go(`/console/webhooks/${await someWebhook()}`);
      await signIn();
      await c.button('Discard all …').click();
      await c.page.getByText('also those on the other pages').waitFor();
    },
    'not permitted': async () => {
      await c.go('/console/credentials');
      await c.signIn((await server.t.issue('service', { scopes: ['read'] })).secret);
      await c.page.getByText('it needs the scope admin').waitFor();
    },
    preview: async () => {
      await c.go('/console/preview');
      await c.signIn(server.t.management);
      await c.page.getByLabel('Definition as JSON').fill('{"alias":"Demo","apply_policy_id":"gold"}');
      await c.button('Check').click();
      await c.page.getByRole('list', { name: 'Warnings' }).waitFor();
    },
  };

  /** What a screen reader says by itself after the last step of a flow. */
  const announcements: Readonly<Record<string, RegExp>> = {
    'sign-in': /This is a management credential/,
    list: /6 keys on this page/,
    'no match': /No key matches/,
    'allowed request': /Allowed the request is allowed/,
    'denied request': /Denied not with this method and path/,
    policy: /1 key would change\./,
    'edit with problems': /1 problem to fix/,
    revert: /These fields change/,
    'bulk, dry run': /4 keys would change/,
    preview: /Warnings: 1/,
    'no connection': /Keyfront does not respond/,
  };

  it.each(Object.keys(flows))(
    '%s fits each size, has names for a screen reader, and violates no rule of WCAG 2.2 AA in light and dark',
    async (flow) => {
      c = await openConsole(browser(), server, { viewport: sizes[1440], reducedMotion: 'reduce' });
      try {
        await flows[flow]?.();
        expect(await c.unnamed()).toEqual([]);
        const announced = announcements[flow];
        if (announced !== undefined) await expect.poll(c.announced).toMatch(announced);
        for (const [size, viewport] of Object.entries(sizes)) {
          await c.page.setViewportSize(viewport);
          const widths = await c.page.evaluate('[document.documentElement.scrollWidth, document.body.scrollWidth]');
          expect({ size, widths }).toEqual({ size, widths: [viewport.width, viewport.width] });
          for (const colorScheme of ['light', 'dark'] as const) {
            await c.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            // Colors do not depend on the size, and the widths between have the layout of one of these.
            const isChecked = size === '1440' || (size === '390' && colorScheme === 'light');
            const violations = isChecked ? await c.violations() : [];
            expect({ size, colorScheme, violations }).toEqual({ size, colorScheme, violations: [] });
            await photographConsole(c.page, `${flow} ${size} ${colorScheme}`);
          }
        }
      } finally {
        await c.close();
      }
    },
  );
});
