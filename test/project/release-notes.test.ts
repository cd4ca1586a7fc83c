import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.js';

const script = join(import.meta.dirname, '../../.ci/release-notes.mjs');
const changelog =
  '# Changelog\n\n## Unreleased\n\n## 2.0.0 - 2027-01-01\n\n- New.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n';

async function notesOf(tag: string, locked = '2.0.0') {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '2.0.0' }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ version: locked }));
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the release notes', () => {
  it('are the section of the version', async () => {
    expect(await notesOf('v2.0.0')).toEqual({ status: 0, stdout: '- New.\n', stderr: '' });
  });

  it.each([
    ['the tag', 'v1.0.0', '2.0.0', /The tag is v1\.0\.0/],
    ['the lockfile', 'v2.0.0', '1.9.0', /package-lock/],
  ])('fail if %s is of another version', async (_, tag, locked, message) => {
    expect(await notesOf(tag, locked)).toMatchObject({ status: 1, stderr: expect.stringMatching(message) });
  });
});
