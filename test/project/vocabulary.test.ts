import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;

/** Words that the glossary of CONTRIBUTING replaces, with their replacements. */
const replaced: readonly (readonly [RegExp, string])[] = [
  [/\b(?:whoever|nobody|somebody|whatever|anybody|wherever)\b/i, 'a noun of the field: client, operator, process'],
  [/\banswer(?:s|ed|ing)?\b/i, 'response, return, result'],
  [/(?<!connection )\brefus(?:e|es|ed|ing)\b/i, 'reject'],
  [/\btroubles?\b/i, 'error, failure'],
  [/\b(?:tell|tells|told|telling)\b/i, 'return, report, throw, notify'],
  [/\b(?:say|says|said)\b/i, 'state, contain, report'],
  [/\b(?:asks|asked)\b/i, 'request, send, call'],
  [/\b(?:crew|courier|chores?|doors?)\b/i, 'cluster, worker, job, transport'],
  [/\b(?:most|least|usual|longest)[A-Z]\w*|\bpatience\w*/, 'max, min, default, timeoutMs'],
  [
    /\b(?:Holder|Asking|Turn|inTurn|Sight|sightOf|apart|Opened|Verdict|SpanFacts|Deliverer|Courier|FailingKey|Moving|Moved|WorkSlots|Telling|RingWord|HandedServer|Surroundings)\b(?=[\s<({,;:.\])]|$)/,
    'the glossary of CONTRIBUTING',
  ],
];

const documents = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'schema/README.md', 'test/README.md'];
const contracts = ['schema/schema.graphql', 'schema/subgraph.graphql', 'schema/openapi.json'];
/** The sources below a folder. This file is exempt. */
const sourcesIn = (folder: 'src' | 'test' | '.ci') =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|mjs|c|css|html)$|^[^.]+$/.test(entry.name))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((file) => !/generated\/|node_modules|vocabulary\.test/.test(file));

/** The lines of a file that use replaced words. */
function linesToReplace(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    return replaced
      .filter(([pattern]) => pattern.test(line))
      .map(([pattern, by]) => `${file}:${index + 1}: ${pattern.exec(line)?.[0]} (use ${by})`);
  });
}

describe('the vocabulary', () => {
  it.each(['src', 'test', '.ci'] as const)('of %s is that of the glossary', (folder) => {
    expect(sourcesIn(folder).flatMap(linesToReplace)).toEqual([]);
  });

  it.each([...documents, ...contracts])('of %s is that of the glossary', (file) => {
    expect(linesToReplace(file)).toEqual([]);
  });
});
