import { afterAll, beforeAll, expect } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { compileDisk, hasDisk } from '../disk/library.js';
import { print, type Report } from './report.js';
import { makeWorkspace, type Workspace } from './workspace.js';

interface Fixture {
  readonly main: string;
  readonly workspace: Workspace;
}

/** Creates the build and a workspace before the tests of a file. Returns a function that returns both. */
export function useWorkspace(name: string): () => Fixture {
  let fixture: Fixture | undefined;
  beforeAll(async () => {
    const [main, workspace] = await Promise.all([buildMain(), makeWorkspace(name)]);
    fixture = { main, workspace };
  }, 120_000);
  afterAll(async () => fixture?.workspace.remove());
  return () => {
    if (!fixture) throw new Error('The workspace could not be made.');
    return fixture;
  };
}

/** As `useWorkspace`, with the library that injects or records disk calls, if this machine can compile it. */
export function useDisk(name: string): () => Fixture & { readonly library: string } {
  const getFixture = useWorkspace(name);
  let library = '';
  beforeAll(() => {
    if (hasDisk) library = compileDisk(getFixture().workspace.folder);
  });
  return () => ({ ...getFixture(), library });
}

/** Prints a report, which must have no findings and, to be meaningful, enough acknowledged changes. */
export function expectSound(report: Report, minAcknowledged = 0): void {
  print(report);
  expect(report.findings).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(minAcknowledged);
}
