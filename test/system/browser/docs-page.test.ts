import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { sampleKeyLines } from '../../../src/cli/serve/first-start.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser, openPage, type WatchedPage } from './browser.js';

describeInBrowser('the page of the REST documents', (browser) => {
  let server: TestServer;
  let opened: WatchedPage;
  let page: Page;
  afterEach(async () => {
    await opened.context.close();
    await server.close();
  });

  async function open(env: Record<string, string> = {}, options: BrowserContextOptions = {}): Promise<void> {
    server = await startServer(env);
    await server.t.importKeys(...sampleKeyLines.map((line) => JSON.parse(line) as object));
    opened = await openPage(browser(), server.url, options);
    ({ page } = opened);
    await page.goto(`${server.url}/docs`);
  }

  /** What must not happen: requests to other hosts, failed scripts, and violations of the policy of the page. */
  const failures = () => [
    // An error response is no failure of the page.
    ...opened.problems.filter((problem) => !problem.startsWith('error: Failed to load resource')),
    ...opened.requests.filter((request) => !request.includes(' /')),
  ];

  async function authorize(scheme: 'management' | 'service', credential: string): Promise<void> {
    await page.locator('.auth-wrapper > .authorize').first().click();
    await page.locator(`.auth-container:has(code:text-is("${scheme}")) input`).fill(credential);
    await page.locator(`.auth-container:has(code:text-is("${scheme}")) button.authorize`).click();
    await page.locator('.close-modal').click();
  }

  /** Opens an operation, sends its first example or the given body, and returns the response that the page shows. */
  async function execute(operation: string, body?: string): Promise<{ status: string; shown: string }> {
    const block = page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    if (body !== undefined) await block.locator('textarea.body-param__text').fill(body);
    await block.locator('button.execute').click();
    const live = block.locator('.live-responses-table');
    await live.waitFor();
    return {
      status: await live.locator('tbody .response-col_status').first().innerText(),
      shown: await live.locator('.response-col_description .highlight-code').first().innerText(),
    };
  }

  it('follows the color scheme of the system', async () => {
    await open({}, { colorScheme: 'dark' });
    await page.locator('.opblock').first().waitFor();
    const background = () => page.evaluate('getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor');
    expect(await background()).toBe('rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background).not.toBe('rgb(28, 32, 34)');
    expect(failures()).toEqual([]);
  });

  it('shows every operation, and schemas closed; requests nothing from other hosts, and violates no policy', async () => {
    await open();
    await page.locator('.opblock').first().waitFor();
    const contract = await readFile(join(import.meta.dirname, '../../../schema/openapi.json'), 'utf8');
    expect(await page.locator('.opblock').count()).toBe(contract.split('"operationId":').length - 1);
    expect(await page.locator('section.models').count()).toBe(1);
    expect(await page.locator('section.models.is-open').count()).toBe(0);
    expect(failures()).toEqual([]);
  });

  it('executes operations with either kind of credential, as in their examples', async () => {
    await open();
    await authorize('management', server.t.management);
    await authorize('service', server.t.service);
    const preview = await execute('previewKey');
    expect(preview.status).toContain('200');
    expect(preview.shown).toContain('acme-staging');
    const update = await execute('updateOrgKey');
    expect(update.status).toContain('200');
    expect(update.shown).toContain('modified');
    expect(failures()).toEqual([]);
  });

  it('hides credentials while they are typed, and focuses the input of the first', async () => {
    await open();
    await page.locator('.auth-wrapper > .authorize').first().click();
    const inputs = page.locator('.auth-container input');
    await inputs.first().waitFor();
    const found = await inputs.evaluateAll((elements) =>
      elements.map((input) => [input.getAttribute('type'), input.getAttribute('aria-label'), input.matches(':focus')]),
    );
    expect(found).toEqual([
      ['password', 'Management credential', true],
      ['password', 'Service credential', false],
    ]);
    expect(failures()).toEqual([]);
  });

  it('sends and shows integers beyond 2^53 with all their digits', async () => {
    await open();
    await authorize('management', server.t.management);
    const { shown } = await execute('previewKey', '{"key_id": "k", "quota_max": 9223372036854775807, "rate": 1.5}');
    expect(shown).toContain('"quota_max": 9223372036854775807');
    expect(shown).toContain('"rate": 1.5');
    expect(failures()).toEqual([]);
  });

  it('stores no credential in the browser', async () => {
    await open();
    await authorize('management', server.t.management);
    expect((await execute('previewKey')).status).toContain('200');
    const stored = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])');
    expect(stored).toBe('[{},{},""]');
    await page.goto('about:blank');
    await page.goto(`${server.url}/docs`);
    expect((await execute('previewKey')).status).toContain('401');
    expect(failures()).toEqual([]);
  });

  it('requests a credential first if the document requires one, and uses it afterwards', async () => {
    await open({ NODE_ENV: 'production', KEYFRONT_GRAPHIQL: 'on' });
    await page.locator('#credential').fill('kf_svc_wrong');
    await page.locator('#credential-form button').click();
    await expect.poll(() => page.locator('#credential-error').innerText()).toMatch(/valid credential/);
    await page.locator('#credential').fill(server.t.service);
    await page.locator('#credential-form button').click();
    await page.locator('.opblock').first().waitFor();
    expect((await execute('orgKey')).status).toContain('200');
    expect(failures()).toEqual([]);
  });
});
