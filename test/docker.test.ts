import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.js';

// No engine of Docker is at hand where these tests run: what the file says is held against what it speaks of.

const root = new URL('..', import.meta.url).pathname;
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  engines: { node: string };
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
  it('builds and runs on a version of Node that package.json allows', () => {
    const [, least = ''] = /^>=(\d+)/.exec(manifest.engines.node) ?? [];
    for (const [from] of stages) expect(from?.rest).toMatch(new RegExp(`^node:${least}-slim( AS \\w+)?$`));
    expect(stages).toHaveLength(3);
  });

  it('starts the service with the command of `npm start`, as the first process and with no shell around it', () => {
    const words = JSON.parse(only('CMD')) as string[];
    expect(words.join(' ')).toBe(manifest.scripts['start']);
    expect(words[0]).toBe('node');
    expect(all(final, 'ENTRYPOINT')).toEqual([]);
    expect(only('STOPSIGNAL')).toBe('SIGTERM');
  });

  it('installs what the lockfile says, in the image without what is for development only', () => {
    expect(all(stageOf('build'), 'RUN')).toEqual(['npm ci --ignore-scripts && npm run build']);
    const [, install = ''] = all(stageOf('packages'), 'RUN');
    const [, rebuilt = ''] = /^npm ci --omit=dev --ignore-scripts && npm rebuild (.+)$/.exec(install) ?? [];
    const compiled = Object.keys(manifest.dependencies).filter((name) => manifest.allowScripts[name] === true);
    expect(rebuilt.split(' ').toSorted()).toEqual(compiled.toSorted());
  });

  it('copies files that are there, or are made before', () => {
    const made = ['node_modules', 'dist'];
    const copied = stages.flatMap((stage) => all(stage, 'COPY')).flatMap((rest) => rest.split(' ').slice(0, -1));
    const paths = copied.filter((path) => !path.startsWith('--')).map((path) => path.replace('/keyfront/', ''));
    expect(paths).toContain('dist');
    expect(paths.filter((path) => !made.includes(path) && !existsSync(join(root, path)))).toEqual([]);
  });

  it('runs as a user without privileges, who owns the data folder alone', () => {
    const order = final.map(({ name }) => name);
    expect(only('USER')).toBe('node');
    expect(order.indexOf('USER')).toBeGreaterThan(order.lastIndexOf('COPY'));
    expect(all(final, 'RUN')).toEqual(['install -d -m 0700 -o node -g node /data']);
    expect(only('VOLUME')).toBe('/data');
  });

  it('sets what the service takes for settings, so that it listens beyond the container', () => {
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

  it('has no secret in it and none beside it: what is local stays out of the build', () => {
    for (const name of ['.git', 'node_modules', 'dist', 'data', '*.db', 'key-ring.json', '.env*']) {
      expect(ignored).toContain(name);
    }
    for (const name of manifest.scripts['build']?.split(' ') ?? []) expect(ignored).not.toContain(name.split('/')[0]);
    expect(read('Dockerfile')).not.toMatch(/^(ARG|ADD)|curl|wget/m);
  });
});
