import { quickReadOf as create, refused } from '../../../build/keys/quick-read.js';

export * from '../../../build/keys/quick-read.js';

/** Leaves whole definitions to zod. The validators of single fields choose what zod reports. @type {typeof create} */
export function quickReadOf(schema) {
  const shape = /** @type {any} */ (schema)._zod.def.shape ?? {};
  return 'accessRights' in shape ? () => refused : create(schema);
}
