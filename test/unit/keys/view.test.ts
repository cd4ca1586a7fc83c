import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../src/keys/definition/view.js';

describe('the view of a definition', () => {
  it('has no object for secrets that are not set', () => {
    expect(viewOf({ alias: 'a' }, new Set())).toStrictEqual({ alias: 'a', hmacStringSet: false });
  });

  it('shows each secret that is set, also if its object has no other member', () => {
    expect(viewOf({}, new Set(['jwtSecret']))).toStrictEqual({ jwtData: { secretSet: true }, hmacStringSet: false });
    expect(viewOf({}, new Set(['password', 'hmacString']))).toStrictEqual({
      basicAuthData: { passwordSet: true },
      hmacStringSet: true,
    });
  });

  it('shows that the secret of an object is not set', () => {
    expect(viewOf({ basicAuthData: { user: 'u' }, jwtData: {} }, new Set())).toStrictEqual({
      basicAuthData: { user: 'u', passwordSet: false },
      jwtData: { secretSet: false },
      hmacStringSet: false,
    });
  });
});
