import { join } from 'node:path';
import type { Page } from 'playwright-core';

const folder = new URL('screenshots/', import.meta.url).pathname;

/** Takes one of the README's pictures anew, where PHOTOGRAPHS is set. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (process.env['PHOTOGRAPHS'] === undefined) return;
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
