import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../src/cli/main.js';
import { startApp } from '../../support/app.js';
import { sendRequest } from '../../support/responses.js';

it('omits deleted keys from keys export, because an import would restore them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-export-'));
  const t = await startApp({ KEYFRONT_DATA: folder });
  await t.importKeys({ key_id: 'living', org_id: 'acme' }, { key_id: 'gone', org_id: 'acme' });
  await sendRequest(t, 'DELETE', '/svc/org/keys/gone');
  await t.close();
  const texts = { out: '', stderr: '' };
  const code = await run(['keys', 'export'], {
    env: { KEYFRONT_DATA: folder },
    stdout: (text) => void (texts.out += text),
    stderr: (text) => void (texts.stderr += text),
    isStderrTTY: false,
    onStop: () => undefined,
  });
  expect(code).toBe(0);
  expect(texts.out).toMatch(/^\{"key_id":"living",[^\n]*\}\n$/);
  expect(texts.stderr).toBe('Exported keys: 1, without secrets.\n');
  await rm(folder, { recursive: true });
});
