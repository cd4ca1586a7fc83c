import { expect, it, vi } from 'vitest';
import * as negotiation from '../../../src/http/content-negotiation.js';
import { negotiateJSON } from '../../../src/graphql/execution/response.js';

it('remembers the types of the most recent Accept headers, after 200 others', () => {
  const negotiated = vi.spyOn(negotiation, 'preferredType');
  for (let index = 0; index < 200; index += 1) expect(negotiateJSON(`text/x${index}`)).toBeUndefined();
  for (let time = 0; time < 3; time += 1) {
    negotiated.mockClear();
    expect(negotiateJSON('application/json, */*')).toBe('application/json');
    expect(negotiateJSON('text/x199')).toBeUndefined();
    expect(negotiated).toHaveBeenCalledTimes(time === 0 ? 1 : 0);
  }
  negotiated.mockRestore();
});
