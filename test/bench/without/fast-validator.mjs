import { fastValidatorOf as create, INVALID } from '../../../build/keys/definition/fast-validator.js';

export * from '../../../build/keys/definition/fast-validator.js';

/** Validates definitions with zod. Validators of single fields determine its messages. @type {typeof create} */
export function fastValidatorOf(schema) {
  const shape = /** @type {any} */ (schema)._zod.def.shape ?? {};
  return 'accessRights' in shape ? () => INVALID : create(schema);
}
