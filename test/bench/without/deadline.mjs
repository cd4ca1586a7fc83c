export * from '../../../build/graphql/operation/deadline.js';

/** A deadline that never expires and needs no timer. */
export class Deadline {
  throwIfExpired() {}

  onExpire() {
    return () => {};
  }

  clear() {}
}
