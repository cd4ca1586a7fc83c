import { describe, expect, it } from 'vitest';
import { toPreviewInput } from '../../../../src/console/preview/rest-names.js';
import { definitionFromWire } from '../../../../src/wire/field-names.js';
import { fullPreview, fullUpdate } from '../../../support/factories.js';

describe('a pasted definition', () => {
  it.each([
    ['previews', fullPreview],
    ['updates', fullUpdate],
  ])('gets the same names as in REST, for every field of %s', (_, definition) => {
    expect(toPreviewInput(definition)).toEqual(definitionFromWire(definition));
  });

  it('stays as it is with the names of GraphQL', () => {
    const definition = definitionFromWire(fullPreview);
    expect(toPreviewInput(definition)).toEqual(definition);
  });

  it('keeps the names of members of free-form JSON', () => {
    const members = { my_id: { some_name: 1 } };
    expect(toPreviewInput({ meta_data: members, oauth_keys: members })).toEqual({
      metaData: members,
      oauthKeys: members,
    });
  });

  it('has a list of access rights, without those that are null, and with invalid ones for the service to reject', () => {
    expect(toPreviewInput({ access_rights: { a: { api_id: 'one' }, b: null, c: 5 } })).toEqual({
      accessRights: [{ label: 'a', apiID: 'one' }, 5],
    });
  });

  it.each([[[]], ['text'], [1], [null], [undefined]])('is no definition if it is %j', (value) => {
    expect(toPreviewInput(value)).toBeUndefined();
  });
});
