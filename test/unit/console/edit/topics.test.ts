import { describe, expect, it } from 'vitest';
import { pathsToText, textToPaths } from '../../../../src/console/edit/allowed-paths.js';
import { advancedFields } from '../../../../src/console/edit/topics.js';
import { fieldAt, hintOf, labelOf, labelOfPath } from '../../../../src/console/fields.js';

describe('the advanced fields', () => {
  it('all have a topic, so that the last one is empty', () => {
    const [name, fields] = advancedFields().at(-1) ?? [];
    expect([name, fields?.map((field) => field.name)]).toEqual(['other', []]);
  });
});

describe('the words of the schema', () => {
  it('are labels, and descriptions without limits and examples', () => {
    expect([labelOf('maxQueryDepth'), labelOf('applyPolicies')]).toEqual(['Max query depth', 'Policies']);
    const depth = fieldAt('maxQueryDepth');
    expect(depth && hintOf(depth)).toBe(
      'Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited.',
    );
  });

  it.each([
    ['accessRights[2].allowedUrls[0].methods[1]', 'Access › 3 › Allowed paths › 1 › Methods › 2', 'methods'],
    ['accessRights["in.voices"].limit.quotaMax', 'Access › in.voices › Limit › Quota', 'quotaMax'],
    ['metaData.owner', 'Metadata › owner', undefined],
    ['unknown', 'Unknown', undefined],
  ])('name the path %s', (path, label, name) => {
    expect(labelOfPath(path)).toBe(label);
    expect(fieldAt(path)?.name).toBe(name);
  });
});

describe('allowed paths as lines', () => {
  it.each([
    ['GET, POST /invoices/.*', [{ methods: ['GET', 'POST'], url: '/invoices/.*' }]],
    ['get /a\n\n/b', [{ methods: ['GET'], url: '/a' }, { url: '/b' }]],
    ['DELETE,PUT   /a b', [{ methods: ['DELETE', 'PUT'], url: '/a b' }]],
    ['^/a/[a-z]+$', [{ url: '^/a/[a-z]+$' }]],
    ['  \n', undefined],
  ])('reads %j', (text, urls) => {
    expect(textToPaths(text)).toEqual(urls);
  });

  it('writes what it reads', () => {
    const text = 'GET, POST /invoices/.*\n/health';
    expect(pathsToText(textToPaths(text))).toBe(text);
  });
});
