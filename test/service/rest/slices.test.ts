import { expect, it } from 'vitest';
import type { Authenticate } from '../../../src/credentials/credential.js';
import { createRouter } from '../../../src/http/router.js';
import { createKeyService } from '../../../src/keys/key-service.js';
import { createRESTRoutes } from '../../../src/rest/router.js';
import { startSharedApp } from '../../support/app.js';
import { requestContextOf } from '../../support/request-context.js';

const t = await startSharedApp();

/** The status of a preview, and in how many steps it was made, each of which others may be served before. */
async function stepsOf(body: string): Promise<{ status: number; steps: number }> {
  let steps = 0;
  const authenticate: Authenticate = async () => ({
    management: { credentialID: 'm', label: 'm', orgID: undefined },
  });
  const routes = createRESTRoutes({
    keys: createKeyService(t.app.services.ports),
    audit: () => undefined,
    nextStage: () => {
      steps += 1;
      return Promise.resolve();
    },
  });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const request = new Request('http://keyfront.test/api/keys/preview', init);
  const { status } = await createRouter(routes)(requestContextOf(request, { authenticate }))();
  return { status, steps };
}

it('serves other requests before a body is parsed and stored, and before a large one is renamed and validated', async () => {
  const [small, large] = ['a', 'a'.repeat(20_000)].map((text) => JSON.stringify({ meta_data: { text } }));
  expect(await stepsOf(small ?? '')).toEqual({ status: 200, steps: 2 });
  expect(await stepsOf(large ?? '')).toEqual({ status: 200, steps: 4 });
});
