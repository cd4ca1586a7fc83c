export * from '../../../build/graphql/execution/deadline.js';

/** Starts a deadline that never expires and needs no timer. */
export const startDeadline = () => ({
  throwIfExpired() {},
  onExpire: () => () => {},
  clear() {},
});
