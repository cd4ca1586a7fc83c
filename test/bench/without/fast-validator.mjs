import { fastValidatorOf as create, INVALID } from '../../../build/keys/definition/fast-validator.js';

export * from '../../../build/keys/definition/fast-validator.js';

/** Leaves whole definitions to zod. The validators of single fields choose what zod reports. @type {typeof create} */
export function fastValidatorOf(schema) {
  const shape = /** @type {any} */ (schema)._zod.def.shape ?? {};
  return 'accessRights' in shape ? () => INVALID : create(schema);
}
