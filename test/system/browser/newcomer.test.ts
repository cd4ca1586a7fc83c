import { expect, it } from 'vitest';
import { printedBy, useProcesses } from '../../support/processes.js';
import { describeInBrowser } from './browser.js';
import { openGraphiQL } from './graphiql-page.js';

const { start } = useProcesses();

describeInBrowser('A newcomer', (browser) => {
  it('comes from `serve --sample` to a first update in GraphiQL with the printed instructions', async () => {
    const service = await start(['--sample']);
    const g = await openGraphiQL(browser(), service.url);
    await g.openTab('UpdateKey');
    await g.paste(printedBy(service).service);
    expect(await g.run()).toMatchObject({ data: { updateOrgKey: { status: 'ok', version: 2 } } });
    await g.page.reload();
    await g.page.waitForSelector('.graphiql-query-editor .view-line');
    expect(g.problems).toEqual([]);
    await g.close();
  });
});
