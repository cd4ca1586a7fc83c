import { join } from 'node:path';
import type { Page } from 'playwright-core';

const folder = new URL('screenshots/', import.meta.url).pathname;

/** Takes one of the README's pictures anew, where PHOTOGRAPHS is set. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (process.env['PHOTOGRAPHS'] === undefined) return;
  await page.mouse.move(0, 0);
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Takes a picture of the console if PHOTOGRAPHS is set. The console shows no credential. */
export async function photographConsole(page: Page, name: string, height: number): Promise<void> {
  if (process.env['PHOTOGRAPHS'] === undefined) return;
  const width = page.viewportSize()?.width ?? 0;
  await page.screenshot({ path: join(folder, `${name}.png`), clip: { x: 0, y: 0, width, height } });
}
