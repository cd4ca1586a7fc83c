import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 100, per: 60, tags: ['production', 'audited'] },
  { key_id: 'mobile', org_id: 'acme', alias: 'Mobile', rate: 9, per: 60 },
  { key_id: 'trial', org_id: 'globex', alias: 'Trial' },
];

describeInBrowser('bulk changes in the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
    await server.t.importKeys(...keys);
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (path: string) => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(server.t.service);
  };
  const result = (name: string) => c.card(name);
  const rates = async () => {
    const { body } = await server.t.graphql('{ orgKeys(orderBy: ALIAS) { edges { node { definition { rate } } } } }');
    const { edges } = (body as { data: { orgKeys: { edges: { node: { definition: { rate: number } } }[] } } }).data
      .orgKeys;
    return edges.map(({ node }) => node.definition.rate);
  };
  const change = async (field: string, value: string) => {
    await c.page.getByLabel('Field').selectOption(field);
    await c.field(field).fill(value);
    if (field === 'tags') await c.field(field).press('Enter');
  };

  it('changes the keys of a view after a dry run that looks like one, with their names and the count', async () => {
    await open('/console?org=acme');
    await c.link('Change all in this view').click();
    await c.heading('Change in bulk');
    await c.page.getByText('Organization: acme').waitFor();
    await change('rate', '9');
    expect(await c.button('Apply').isDisabled()).toBe(true);
    await c.button('Try it').click();
    await c.button('Apply to 1 key').waitFor();
    const dryRun = (await result('Dry run: nothing has been changed').innerText()).replaceAll(/\s+/g, ' ');
    expect(dryRun).toContain('1 key would change, 1 would stay as they are.');
    expect(dryRun).toMatch(/Billing Rate 100 9/);
    expect(dryRun).toMatch(/Mobile stays as it is/);
    expect(await rates()).toEqual([100, 9, null]);
    await c.page.getByLabel('Reason').fill('One rate');
    await c.button('Apply to 1 key').click();
    await result('Result').getByText('1 key changed, 1 stayed as they are.').waitFor();
    expect(await rates()).toEqual([9, 9, null]);
    expect(await c.button('Apply').isDisabled()).toBe(true);
    const [file] = await Promise.all([c.page.waitForEvent('download'), c.button('Download as JSON').click()]);
    const outcomes = JSON.parse(await readFile(await file.path(), 'utf8')) as { name: string; isChanged: boolean }[];
    expect(outcomes.map(({ name, isChanged }) => [name, isChanged]).sort()).toEqual([
      ['Billing', true],
      ['Mobile', false],
    ]);
    expect(c.problems).toEqual([]);
  });

  it('changes only selected keys, and reports the result of each', async () => {
    await open('/console');
    await c.page.getByLabel('Select Mobile').check();
    await c.page.getByLabel('Select Trial').check();
    await c.button('Change 2 keys').click();
    await c.page.getByText('2 keys, selected in the list').waitFor();
    await change('tags', 'silver');
    await c.button('Try it').click();
    await c.button('Apply to 2 keys').waitFor();
    await server.t.send('/svc/org/keys/trial', {
      method: 'DELETE',
      headers: { 'x-svc-authorization': server.t.service },
    });
    await c.button('Apply to 2 keys').click();
    await result('Result').getByText('1 key changed, 1 failed.').waitFor();
    await result('Result')
      .getByRole('row', { name: /Trial Not found/ })
      .waitFor();
    const { body } = await server.t.graphql(
      '{ orgKeys(filter: { tagsAll: ["silver"] }) { edges { node { keyID } } } }',
    );
    expect(body).toEqual({ data: { orgKeys: { edges: [{ node: { keyID: 'mobile' } }] } } });
  });

  it('adds and removes tags, and keeps the others', async () => {
    await open('/console/bulk?org=acme');
    const type = async (field: string, tag: string) => {
      await c.page.getByLabel('Field').selectOption(field);
      await c.field(field).fill(tag);
      await c.field(field).press('Enter');
    };
    await type('addTags', 'silver');
    await type('removeTags', 'production');
    // Tags are either replaced, or added and removed.
    expect(await c.page.getByLabel('Field').locator('option[value=tags]').count()).toBe(0);
    expect(await c.page.getByText('A field that you leave empty is removed').count()).toBe(0);
    await c.button('Try it').click();
    await c.button('Apply to 2 keys').click();
    await result('Result').getByText('2 keys changed').waitFor();
    const { body } = await server.t.graphql(
      '{ orgKeys(filter: { orgID: "acme" }, orderBy: ALIAS) { edges { node { definition { tags } } } } }',
    );
    const tags = [['audited', 'silver'], ['silver']].map((names) => ({ node: { definition: { tags: names } } }));
    expect(body).toEqual({ data: { orgKeys: { edges: tags } } });
    expect(c.problems).toEqual([]);
  });

  it('changes nothing without its selection, which a reload forgets', async () => {
    await open('/console/bulk?selected=yes');
    await c.page.getByText('No key is selected').waitFor();
    expect(await c.button('Try it').count()).toBe(0);
  });

  it('stops on request, says so, and changes the remaining keys when it is applied again', async () => {
    const many = Array.from({ length: 120 }, (_, number) => ({ key_id: `many-${number}`, org_id: 'many' }));
    await server.t.importKeys(...many);
    const changed = async () => {
      const query = '{ orgKeys(filter: { orgID: "many", tagsAll: ["new"] }) { totalCount } }';
      return (await server.t.graphql(query)).body;
    };
    await open('/console/bulk?org=many');
    await change('tags', 'new');
    await c.button('Try it').click();
    await c.button('Apply to 120 keys').waitFor();
    const second = Promise.withResolvers<void>();
    await c.page.route('**/graphql', async (route) => {
      // The second page of the change does not reach the service.
      if (/"dryRun":false.*"after":"/.test(route.request().postData() ?? '')) second.resolve();
      else await route.fallback();
    });
    await c.button('Apply to 120 keys').click();
    await second.promise;
    await c.button('Stop').click();
    await result('Result').getByText('Stopped before the end.').waitFor();
    expect(await c.page.getByRole('alert').count()).toBe(0);
    expect(await changed()).toEqual({ data: { orgKeys: { totalCount: 50 } } });
    await c.page.unroute('**/graphql');
    await c.button('Try it').click();
    await c.button('Apply to 70 keys').click();
    await result('Result').getByText('70 keys changed, 50 stayed as they are.').waitFor();
    expect(await changed()).toEqual({ data: { orgKeys: { totalCount: 120 } } });
  });
});
