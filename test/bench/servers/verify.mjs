// The baseline of verification: Node's HTTP server in front of the core, without credentials, limits and a log.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { stringifyJSON } from '../../../build/lib/json.js';
import { announce, auth, keys } from './core.mjs';

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { requests } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const caller = { ...auth.service, requestID: randomUUID() };
    const results = await keys.verifyKeys(
      caller,
      requests.map((/** @type {any} */ { key_id: keyID, ...one }) => ({ keyID, ...one })),
    );
    const text = stringifyJSON({
      results: results.map(({ isAllowed, ...others }) => ({ allowed: isAllowed, ...others })),
    });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    response.writeHead(200, headers).end(text);
  });
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${server.address().port}/graphql`));
