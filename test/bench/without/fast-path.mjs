export * from '../../../build/graphql/execution/fast-path.js';

/** Passes every request to Yoga. */
export function serveFast() {
  return Promise.resolve(undefined);
}
