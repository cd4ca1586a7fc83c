import { describe, expect, it } from 'vitest';
import { withChecksum } from '../../../src/crypto/checksum.js';
import {
  checkKeyID,
  checkKeyIDPrefix,
  checkOwner,
  generatedKeyID,
  keyIDPrefixProblem,
  orgIDProblem,
  ownerOf,
} from '../../../src/keys/key-id.js';

const malformedPrefix =
  'must have 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit';

describe('keyIDPrefixProblem', () => {
  it.each(['a', '7', 'acme_live_', 'A.b-C_9', 'x'.repeat(64)])('accepts %j', (prefix) => {
    expect(keyIDPrefixProblem(prefix)).toBeUndefined();
  });

  it.each(['', '.a', '-a', '_a', 'a b', 'a/b', 'é', 'aé', 'x'.repeat(65)])('rejects %j', (prefix) => {
    expect(keyIDPrefixProblem(prefix)).toBe(malformedPrefix);
  });
});

describe('generatedKeyID', () => {
  const digits = withChecksum('3f0c9d1e5b7a4826a1d4c6e8f0b2937d');
  it.each([
    ['acme', `acme_${digits}`],
    ['acme_live_', `acme_live_${digits}`],
    ['acme.', `acme.${digits}`],
    ['', digits],
  ])('adds a separator, if there is none, and the random digits to %j', (prefix, keyID) => {
    expect(generatedKeyID(prefix, digits)).toBe(keyID);
  });

  it('ends in the CRC-32 of its random digits', () => {
    expect(digits).toBe('3f0c9d1e5b7a4826a1d4c6e8f0b2937d0337b71b');
  });
});

describe('orgIDProblem', () => {
  it.each([
    ['', 'must not be blank'],
    [' \t', 'must not be blank'],
    ['\ud800', 'must be well-formed Unicode without NUL'],
    ['é'.repeat(108), 'must have at most 214 bytes'],
    ['a\nb', 'must not hold control or format characters'],
    ['a/b', 'must not hold a slash or a backslash'],
  ])('rejects %j', (orgID, problem) => {
    expect(orgIDProblem(orgID)).toBe(problem);
  });

  it.each(['a', ' a ', '.', 'é'.repeat(107), 'x'.repeat(214)])('accepts %j', (orgID) => {
    expect(orgIDProblem(orgID)).toBeUndefined();
  });
});

describe('a check of an identifier', () => {
  it('returns a valid identifier unchanged', () => {
    expect([checkKeyID('k 1'), checkKeyIDPrefix('k1'), checkOwner(' acme'), ownerOf('acme ')]).toStrictEqual([
      'k 1',
      'k1',
      ' acme',
      'acme ',
    ]);
  });

  const withSlash = 'must not hold a slash or a backslash';
  const invalidOrganization = [
    'The identifier of the organization is not valid.',
    'orgID',
    'MALFORMED_ORG_ID',
  ] as const;
  const noOwner = ['The key has no organization.', 'orgID', 'MISSING', 'is required; every key has an owner'] as const;
  it.each<[string, () => string, string, string, string, string]>([
    ['a key', () => checkKeyID('a/b'), 'The key identifier is not valid.', 'keyID', 'MALFORMED_KEY_ID', withSlash],
    [
      'a prefix',
      () => checkKeyIDPrefix(''),
      'The prefix of the key identifier is not valid.',
      'prefix',
      'MALFORMED_KEY_ID',
      malformedPrefix,
    ],
    ['an organization', () => checkOwner(' '), ...invalidOrganization, 'must not be blank'],
    ['an owner', () => ownerOf('a\\b'), ...invalidOrganization, withSlash],
    ['a blank owner', () => ownerOf(' '), ...noOwner],
    ['no owner', () => ownerOf(undefined), ...noOwner],
  ])('throws INVALID with one issue for %s', (_, check, text, path, code, message) => {
    expect(check).toThrow(
      expect.objectContaining({ code: 'INVALID', message: text, issues: [{ path: [path], code, message }] }) as Error,
    );
  });
});
