import { join } from 'node:path';
import type { Page } from 'playwright-core';

const folder = new URL('screenshots/', import.meta.url).pathname;

/** Takes one of the README's pictures anew, where PHOTOGRAPHS is set. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (process.env['PHOTOGRAPHS'] === undefined) return;
  // A picture with a credential in it, be it of a test, is none to publish.
  await page.getByRole('button', { name: 'Variables' }).click();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.getByRole('button', { name: 'Headers' }).click();
}
