// A bug for the soak to catch: every request leaves something behind, and now and then an open file.
import { openSync } from 'node:fs';
import { ServerResponse } from 'node:http';

const left = [];
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (...args) {
  left.push({ headers: { ...this.req.headers }, text: 'x'.repeat(2_000) + left.length });
  if (left.length % 500 === 0) openSync('/dev/null');
  return writeHead.apply(this, args);
};
