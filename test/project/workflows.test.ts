import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksWith } from '../support/documents.js';

// The package imports JSON without the attribute that Node requires.
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});
const { NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser');
hooks.deregister();

/** The problems of a workflow by the schema of GitHub's own parser. */
const problemsOf = (content: string) =>
  parseWorkflow({ name: 'workflow.yml', content }, new NoOperationTraceWriter())
    .context.errors.getErrors()
    .map(({ message }) => message);

const folder = join(import.meta.dirname, '../../.github/workflows');

describe.each(globSync('*.yml', { cwd: folder }))('the workflow %s', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');

  it('is valid for the parser of GitHub', () => {
    expect(problemsOf(text)).toEqual([]);
  });

  it('pins every action by its commit, whose tag can be moved', () => {
    const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action);
    expect(actions.filter((action) => !/^\.\/|@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

it('the steps for pull requests in the documents are valid', () => {
  const [steps = ''] = blocksWith('yaml', '- uses:');
  const job = ['on: push', 'jobs:', '  check:', '    runs-on: ubuntu-latest', '    steps:'];
  const workflow = [...job, ...steps.split('\n').map((line) => `      ${line}`)].join('\n');
  expect(problemsOf(workflow)).toEqual([]);
  expect(problemsOf(workflow.replace('run:', 'runs:'))).not.toEqual([]);
});
