import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

// The test machine cannot run the workflow: its parts are compared with the rules that it has to keep.

const root = new URL('../..', import.meta.url).pathname;
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const text = read('.github/workflows/release.yml');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes': number;
  readonly steps: readonly Step[];
}

const workflow = parse(text) as {
  readonly on: object;
  readonly permissions: object;
  readonly jobs: Readonly<Record<'verify' | 'packages' | 'image', Job>>;
};
const jobs = Object.entries(workflow.jobs);
const commandsOf = ({ steps }: Job) => steps.map(({ run = '' }) => run).join('\n');

describe('the release workflow', () => {
  it('runs for version tags only', () => {
    expect(workflow.on).toEqual({ push: { tags: ['v*'] } });
  });

  it('pins every action by its commit, with its version in a comment', () => {
    const uses = text.split('\n').filter((line) => line.includes('uses:'));
    expect(uses.length).toBeGreaterThanOrEqual(7);
    for (const line of uses) expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    // The same action has the same commit everywhere.
    const actions = new Set(uses.map((line) => line.trim()));
    expect(new Set([...actions].map((line) => line.split('@')[0])).size).toBe(actions.size);
  });

  it('gives each job only the permissions that it needs', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      verify: undefined,
      packages: { contents: 'read', 'id-token': 'write' },
      image: { contents: 'write', packages: 'write', 'id-token': 'write' },
    });
    for (const [, { steps }] of jobs) {
      const [checkout] = steps;
      expect(checkout?.uses).toMatch(/^actions\/checkout@/);
      expect(checkout?.with?.['persist-credentials']).toBe(false);
    }
  });

  it('interpolates no expression into a script', () => {
    for (const [, job] of jobs) expect(commandsOf(job)).not.toContain('${{');
  });

  it('publishes only after all checks', () => {
    expect(commandsOf(workflow.jobs.verify)).toContain('.ci/run');
    expect(commandsOf(workflow.jobs.verify)).toContain('node .ci/release-notes.mjs "$GITHUB_REF_NAME"');
    expect([workflow.jobs.packages.needs, workflow.jobs.image.needs]).toEqual(['verify', 'verify']);
    for (const [, job] of jobs) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('publishes both packages with provenance, without running their scripts', () => {
    const published = commandsOf(workflow.jobs.packages)
      .split('\n')
      .filter((line) => line.startsWith('npm publish'));
    expect(published).toEqual([
      'npm publish --provenance --access public --ignore-scripts',
      'npm publish --provenance --access public --ignore-scripts ./dist/client',
    ]);
  });

  it('pushes an image that a second build has reproduced, and signs its digest', () => {
    const commands = commandsOf(workflow.jobs.image);
    expect(commands.match(/test "\$DIGEST" = "\$first"/g)).toHaveLength(2);
    expect(commands.match(/build --no-cache/g)).toHaveLength(2);
    expect(commands).toContain('SOURCE_DATE_EPOCH=');
    expect(commands).toContain('cosign sign --yes "${IMAGE,,}@$DIGEST"');
    expect(commands).toContain('--predicate dist/sbom.json "${IMAGE,,}@$DIGEST"');
    const labels = [...`${commands}${read('Dockerfile')}`.matchAll(/org\.opencontainers\.image\.([\w.]+)=/g)];
    expect(new Set(labels.map(([, name]) => name))).toEqual(
      new Set(['title', 'description', 'licenses', 'version', 'revision', 'source', 'base.digest']),
    );
    const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
    expect(
      bases.filter((name) => !commands.includes(`--build-context "${name}=docker-image://${name}@$BASE"`)),
    ).toEqual([]);
  });

  it('contains scripts that bash can parse', () => {
    for (const [, { steps }] of jobs) {
      for (const { run } of steps) if (run !== undefined) execFileSync('bash', ['-n'], { input: run });
    }
  });
});

describe('the release notes', () => {
  const notesOf = (tag: string, files: { version: string; locked?: string; changelog: string }) => {
    const folder = mkdtempSync(join(tmpdir(), 'keyfront-release-'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: files.version }));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ version: files.locked ?? files.version }));
    writeFileSync(join(folder, 'CHANGELOG.md'), files.changelog);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, '.ci/release-notes.mjs'), tag], {
      cwd: folder,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    return { status, stdout, stderr };
  };
  const changelog =
    '# Changelog\n\n## Unreleased\n\n## 2.0.0 - 2027-01-01\n\n- New.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n';

  it('are the section of the version', () => {
    expect(notesOf('v2.0.0', { version: '2.0.0', changelog })).toEqual({ status: 0, stdout: '- New.\n', stderr: '' });
  });

  it.each([
    ['the tag is of another version', 'v1.0.0', { version: '2.0.0', changelog }, /The tag is v1\.0\.0/],
    ['the lockfile is of another version', 'v2.0.0', { version: '2.0.0', locked: '1.9.0', changelog }, /package-lock/],
    ['the changelog has no section', 'v3.0.0', { version: '3.0.0', changelog }, /has no section "## 3\.0\.0/],
  ])('fail if %s', (_, tag, files, message) => {
    const { status, stderr } = notesOf(tag, files);
    expect([status, message.test(stderr)]).toEqual([1, true]);
  });
});
