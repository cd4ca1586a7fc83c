import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { start } from '../../support/process.js';
import { startBrowser, whyNoBrowser } from './chromium.js';
import { openGraphiQL } from './graphiql-page.js';

const title = whyNoBrowser === undefined ? 'A newcomer' : `A newcomer: left out, for ${whyNoBrowser}`;

describe.skipIf(whyNoBrowser !== undefined)(title, () => {
  let main: string;
  beforeAll(async () => {
    main = await buildMain();
  }, 120_000);

  it('leads from `npm start -- --sample` to a first update in GraphiQL with the printed instructions', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyfront-newcomer-'));
    const browser = await startBrowser();
    const steps: string[] = [];
    let since = performance.now();
    const lap = (step: string) => {
      steps.push(`${String(Math.round(performance.now() - since)).padStart(6)} ms  ${step}`);
      since = performance.now();
    };
    const service = await start(main, join(folder, 'data'), ['--sample']);
    try {
      lap('the service listens');
      const [secret = ''] = /kf_svc_\w{38}/.exec(service.stdout()) ?? [];
      const g = await openGraphiQL(browser, service.url);
      lap('GraphiQL is there, compressed for the first time');
      await g.openTab('UpdateKey');
      await g.paste(secret);
      lap('the tab is open and the credential pasted');
      expect(await g.run()).toMatchObject({ data: { updateOrgKey: { status: 'ok', version: 2 } } });
      lap('the response to the update');
      await g.page.reload();
      await g.page.waitForSelector('.graphiql-query-editor .view-line');
      lap('(a second visit)');
      expect(g.problems).toEqual([]);
    } finally {
      service.signal('SIGTERM');
      await service.exited;
      await browser.close();
      await rm(folder, { recursive: true });
    }
    if (process.env['TIMES'] !== undefined) console.log(steps.join('\n'));
  });
});
