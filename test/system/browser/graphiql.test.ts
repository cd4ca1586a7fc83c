import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examples, welcome } from '../../../src/graphql/graphiql/browser/examples.js';
import { sampleKeyLines } from '../../../src/cli/serve/first-start.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openGraphiQL, type GraphiQLPage } from './graphiql-page.js';

const nameOf = (query: string) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '';

describeInBrowser('GraphiQL in a browser', (browser) => {
  let server: TestServer;
  let g: GraphiQLPage;
  const serve = async (env: Record<string, string> = {}) => {
    server = await startServer(env);
    await server.t.importKeys(...sampleKeyLines.map((line) => JSON.parse(line) as object));
  };
  beforeEach(async () => {
    await serve();
    g = await openGraphiQL(browser(), server.url);
  });
  afterEach(async () => {
    await g.close();
    await server.close();
  });

  it('loads without an error, a warning, a violation of its policy or a request to another host', async () => {
    await g.openTab('ListKeys');
    await g.paste(server.t.service);
    await g.run();
    await g.page.getByLabel('Show Documentation').click();
    // Completion, formatting and checking are done by the workers.
    await g.page.keyboard.press('Control+Space');
    await expect
      .poll(() => g.requests)
      .toEqual(
        expect.arrayContaining([
          'GET /graphiql/graphql.worker.js',
          'GET /graphiql/json.worker.js',
          'GET /graphiql/editorWorkerService.worker.js',
          'POST /graphql',
        ]),
      );
    expect(g.problems).toEqual([]);
    expect(g.requests.filter((request) => !request.includes(' /'))).toEqual([]);
  });

  it('opens with one welcome tab', async () => {
    expect(await g.tabs()).toEqual(['Welcome']);
    expect(await g.editors()).toMatchObject({ operation: welcome, variables: '', headers: '' });
  });

  it('opens each example in a new tab, with its operation and variables', async () => {
    for (const { query, variables } of examples) {
      await g.openTab(nameOf(query));
      expect(await g.editors()).toMatchObject({ operation: query, variables });
    }
    expect(await g.tabs()).toEqual(['Welcome', ...examples.map(({ query }) => nameOf(query))]);
  });

  it('executes with Ctrl+Enter before an editor has the focus', async () => {
    await g.paste(server.t.management);
    await g.page.locator('body').press('Control+Enter');
    await expect.poll(async () => (await g.editors()).response).toContain('"alias": "Demo"');
  });

  it('puts both credentials of the first start into their fields, so that every tab works after one paste', async () => {
    const printed = `    management (previews)            ${server.t.management}\n    service    (organization keys)   ${server.t.service}\n`;
    await g.page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(printed)});
      document.querySelector('#service').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }`);
    expect(await g.run()).toMatchObject({ data: { previewKey: { data: { alias: 'Demo' } } } });
    await g.openTab('ListKeys');
    expect(await g.run()).toMatchObject({ data: { orgKeys: { totalCount: 2 } } });
  });

  it('links to the REST documents, which link back, and to the console', async () => {
    await g.page.getByRole('link', { name: 'Console' }).waitFor();
    await g.page.getByRole('link', { name: 'REST' }).click();
    await g.page.getByRole('link', { name: 'Console' }).waitFor();
    await g.page.getByRole('link', { name: 'GraphiQL' }).click();
    await g.page.getByLabel('Management credential').waitFor();
  });

  it('uses a pasted credential in all tabs at once, also in those that are open already', async () => {
    await g.openTab('ListKeys');
    await g.openTab('Welcome');
    await g.paste(server.t.service);
    await g.openTab('ListKeys');
    expect(await g.run()).toMatchObject({ data: { orgKeys: { totalCount: 2 } } });
  });

  it('shows the newest event of a subscription until another tab is opened, and continues after its cursor', async () => {
    const newest = async () => {
      const { response } = await g.editors();
      return (JSON.parse(response || '{}') as { data?: { orgKeyChanged?: { cursor: string; entry: unknown } } }).data
        ?.orgKeyChanged;
    };
    await g.openTab('FollowKeys');
    await g.paste(server.t.service);
    await g.page.locator('.graphiql-execute-button').click();
    await expect.poll(newest).toMatchObject({ __typename: 'KeyFeedCheckpoint' });
    await server.t.importKeys({ key_id: 'first', org_id: 'acme', alias: 'First' });
    await expect.poll(newest).toMatchObject({ entry: { operation: 'IMPORT' } });

    const [ended] = await Promise.all([g.page.waitForEvent('requestfailed'), g.openTab('UpdateKey')]);
    expect(ended.url()).toBe(`${server.url}/graphql`);
    await g.run();

    await g.openTab('FollowKeys');
    const { cursor } = (await newest()) ?? {};
    await g.write('variables', JSON.stringify({ orgID: 'acme', after: cursor }));
    await g.page.locator('.graphiql-execute-button').click();
    await expect.poll(newest).toMatchObject({ entry: { operation: 'UPDATE' } });
    // The ended request.
    expect(g.problems).toEqual([]);
  });

  it('ends a subscription when it is stopped', async () => {
    await g.openTab('FollowKeys');
    await g.paste(server.t.service);
    await g.page.locator('.graphiql-execute-button').click();
    await expect.poll(async () => (await g.editors()).response).toContain('cursor');
    const stop = g.page.getByRole('button', { name: /Stop/ });
    const [ended] = await Promise.all([g.page.waitForEvent('requestfailed'), stop.click()]);
    expect(ended.url()).toBe(`${server.url}/graphql`);
  });

  it('is usable on a phone of 390 pixels', async () => {
    await g.close();
    g = await openGraphiQL(browser(), server.url, { viewport: { width: 390, height: 844 } });
    await g.openTab('ListKeys');
    await g.paste(server.t.service);
    await g.run();
    const sizeOf = async (selector: string) => {
      const { width = 0, height = 0 } = (await g.page.locator(selector).boundingBox()) ?? {};
      return { width, height };
    };
    for (const pane of ['.graphiql-query-editor', '.graphiql-response']) {
      const { width, height } = await sizeOf(pane);
      expect([pane, width > 350, height > 200]).toEqual([pane, true, true]);
    }
    expect(await g.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await g.page.getByLabel('Show Documentation').click();
    expect((await sizeOf('.graphiql-plugin')).width).toBeGreaterThan(350);
  });

  it('lets a new user preview, list and update with one paste for each kind of credential', async () => {
    await g.openTab('PreviewKey');
    await g.paste(server.t.management);
    expect(await g.run()).toMatchObject({
      data: { previewKey: { keyID: 'acme-billing', data: { tags: ['billing', 'production'] } } },
    });

    await g.openTab('PreviewProblems');
    expect(await g.run()).toMatchObject({ errors: [{ extensions: { code: 'INVALID' } }] });

    await g.openTab('ListKeys');
    await g.paste(server.t.service);
    expect(await g.run()).toMatchObject({ data: { orgKeys: { totalCount: 2 } } });
    await g.openTab('UpdateKey');
    expect(await g.run()).toMatchObject({ data: { updateOrgKey: { status: 'ok', version: 2 } } });
    await g.openTab('KeyHistory');
    expect(JSON.stringify(await g.run())).toContain('More traffic since the spring release');
    // The browser's own word for the definition with problems.
    expect(g.problems).toEqual([expect.stringMatching(/^error: Failed to load resource: .* 400 /)]);
  });

  it('G-22 keeps tabs and the active one over a reload, and stores no credential', async () => {
    await g.openTab('PreviewKey');
    await g.paste(server.t.management);
    await g.run();
    await g.write('operation', '# My own.\nquery Mine { __typename }\n');
    await g.openTab('ReadKey');
    // Where GraphiQL itself takes headers.
    await g.write('headers', JSON.stringify({ 'X-Svc-Authorization': server.t.service }));
    expect(await g.run()).toMatchObject({ data: { orgKey: { version: 1 } } });
    const { operation } = await g.editors();
    await g.write('operation', `${operation}# The last change.\n`);
    // GraphiQL stores a change with its tab later than alone.
    await expect.poll(async () => (await g.kept()).split('The last change.').length - 1).toBe(2);
    for (const secret of [server.t.management, server.t.service]) {
      expect(await g.kept()).not.toContain(secret.slice(7));
    }
    expect(await g.kept()).toContain('My own.');
    expect(g.page.url()).toBe(`${server.url}/`);
    expect(await g.page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('My own.');

    await g.page.reload();
    await g.page.waitForSelector('.graphiql-tab-button');
    expect(await g.tabs()).toEqual(['Welcome', 'Mine', 'ReadKey']);
    await g.page.locator('.graphiql-tab-active', { hasText: 'ReadKey' }).waitFor();
    expect(await g.editors()).toMatchObject({
      operation: expect.stringContaining('query ReadKey'),
      headers: '',
    });
    expect(await g.run()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await g.openTab('Mine');
    expect(await g.editors()).toMatchObject({ operation: '# My own.\nquery Mine { __typename }\n' });
  });

  it('finds previewKey in the docs', async () => {
    await g.page.getByLabel('Show Documentation').click();
    await g.page.locator('.graphiql-doc-explorer-search-input').click();
    await g.page.keyboard.type('previewK');
    await g.page
      .getByRole('option', { name: /previewKey/ })
      .first()
      .click();
    await expect
      .poll(() => g.page.locator('.graphiql-doc-explorer').innerText())
      .toMatch(/Requires a management credential/);
  });

  describe('shows in the response', () => {
    it('that a credential is missing, and which kind; and counts no failed attempt', async () => {
      const missing = 'A valid management credential is required (Authorization: Bearer).';
      for (let times = 0; times < 12; times += 1) {
        expect(await g.run()).toMatchObject({ errors: [{ message: missing }] });
      }
      await g.paste(server.t.management);
      expect(await g.run()).toMatchObject({ data: { previewKey: { data: { alias: 'Demo' } } } });
    });

    it('that a subscription needs a service credential', async () => {
      await g.openTab('FollowKeys');
      expect(await g.run()).toMatchObject({
        errors: [{ message: 'A valid service credential is required (X-Svc-Authorization).' }],
      });
    });

    it('that a credential is not valid, and not why', async () => {
      const { id, secret } = await server.t.issue('service');
      await server.t.app.services.credentials.revoke(id, server.t.clock.now);
      const unknown = server.t.service.replace(/.{8}$/, 'x'.repeat(8));
      for (const invalid of [secret, unknown]) {
        await g.openTab('ListKeys');
        await g.paste(invalid);
        expect(await g.run()).toMatchObject({
          errors: [{ message: 'A valid service credential is required (X-Svc-Authorization).' }],
        });
      }
    });

    it('that there were too many failed attempts', async () => {
      await g.paste('kf_mgt_wrong');
      for (let times = 0; times < 10; times += 1) await g.run();
      expect(await g.run()).toMatchObject({
        errors: [{ message: 'Too many attempts with invalid credentials.', extensions: { code: 'RATE_LIMITED' } }],
      });
    });
  });

  it('shows docs only with a credential if the service requires one, and states that', async () => {
    await g.close();
    await server.close();
    await serve({ KEYFRONT_INTROSPECTION: 'credential' });
    g = await openGraphiQL(browser(), server.url);
    await g.page.getByLabel('Show Documentation').click();
    await expect.poll(async () => (await g.editors()).response).toMatch(/A valid credential is required/);
    await g.paste(server.t.service);
    await expect.poll(() => g.page.locator('.graphiql-doc-explorer').innerText()).toMatch(/mutation: Mutation/);
  });

  it('follows the light or dark theme of the system, and accepts another choice', async () => {
    const seen = async () => {
      const background = await g.page.evaluate<string>(
        `getComputedStyle(document.querySelector('.graphiql-container .graphiql-container')).backgroundColor`,
      );
      const [red = ''] = /\d+/.exec(background) ?? [];
      const isDark = await g.page.locator('.graphiql-query-editor .monaco-editor.vs-dark').isVisible();
      return [Number(red) < 128 ? 'dark page' : 'light page', isDark ? 'dark editor' : 'light editor'].join(', ');
    };
    const light = 'light page, light editor';
    const dark = 'dark page, dark editor';
    await expect.poll(seen).toBe(light);
    await g.page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(seen).toBe(dark);

    const atNight = await openGraphiQL(browser(), server.url, { colorScheme: 'dark' });
    await g.close();
    g = atNight;
    await expect.poll(seen).toBe(dark);
    await g.page.getByLabel('Open settings dialog').click();
    await g.page.getByRole('button', { name: 'Light' }).click();
    await expect.poll(seen).toBe(light);
    await g.page.reload();
    await g.page.waitForSelector('.graphiql-query-editor .monaco-editor');
    await expect.poll(seen).toBe(light);
  });

  it('shows the arguments of an operation in its docs, in the dark theme', async () => {
    const night = await openGraphiQL(browser(), server.url, {
      colorScheme: 'dark',
      viewport: { width: 1440, height: 800 },
    });
    await night.openTab('UpdateKey');
    await night.paste(server.t.service);
    await night.run();
    await night.page.getByLabel('Show Documentation').click();
    await night.page.locator('.graphiql-doc-explorer a', { hasText: 'Mutation' }).first().click();
    await night.page.locator('.graphiql-doc-explorer a', { hasText: 'updateOrgKey' }).first().click();
    expect(await night.page.locator('.graphiql-doc-explorer').innerText()).toContain('expectedVersion');
    await night.close();
  });
});
