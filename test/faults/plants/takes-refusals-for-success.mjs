// A bug for the harnesses to catch: whatever a receiver answers is taken for a 200.
import { IncomingMessage } from 'node:http';

const told = new WeakMap();
Object.defineProperty(IncomingMessage.prototype, 'statusCode', {
  get() {
    return typeof told.get(this) === 'number' ? 200 : told.get(this);
  },
  set(status) {
    told.set(this, status);
  },
});
