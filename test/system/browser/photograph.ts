import { join } from 'node:path';
import type { Page } from 'playwright-core';

const folder = new URL('screenshots/', import.meta.url).pathname;

/** The pictures of the console in the documents, and the flows that they show. */
const pictures: Readonly<Record<string, string>> = {
  'list 1440 light': 'console',
  'search 1440 light': 'console-search',
  'key 1440 light': 'console-key',
  'rejected key 390 light': 'console-phone',
  'denied request 1440 light': 'console-request',
  'edit 1440 dark': 'console-edit',
  'merge 1024 light': 'console-merge',
  'created 1024 light': 'console-created',
  'bulk, dry run 1024 light': 'console-bulk',
  'policy 1440 light': 'console-policy',
  'organizations 1024 dark': 'console-organizations',
  'changes 1024 light': 'console-changes',
};

/** What a picture shows, if that is not the visible part of the page. */
const regions: Readonly<Record<string, string>> = {
  'console-request': 'Can this key call …?',
  'console-policy': 'Impact: nothing has been changed',
};

/**
 * Takes a picture of a flow of the console if PHOTOGRAPHS is set: those of the documents into their folder, and all into
 * the folder that PHOTOGRAPHS names, unless that is `1`. The console shows no credential.
 */
export async function photographConsole(page: Page, flow: string): Promise<void> {
  const target = process.env['PHOTOGRAPHS'];
  if (target === undefined) return;
  const picture = pictures[flow];
  if (picture !== undefined) {
    const path = join(folder, `${picture}.png`);
    await page.evaluate('scrollTo(0, 0)');
    const region = regions[picture];
    if (region === undefined) await page.screenshot({ path });
    else await page.getByRole('region', { name: region }).screenshot({ path });
  }
  if (target !== '1') await page.screenshot({ path: join(target, `${flow}.png`), fullPage: true });
}
