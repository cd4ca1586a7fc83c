import type { Option } from '../command.js';
import { outputOptions } from '../output/format.js';
import { connectionOptions } from './connection.js';

/** The option `--url`. */
export const serviceURLOption: Option = {
  value: 'URL',
  description: 'Use the service at this address instead of the data folder (default: KEYFRONT_URL)',
  isCommon: true,
};

/** Options of every command for keys. */
export const keysOptions: Readonly<Record<string, Option>> = {
  url: serviceURLOption,
  ...connectionOptions,
  ...outputOptions,
};

/** Options of every command for one key. */
export const keyOptions: Readonly<Record<string, Option>> = {
  'key-hash': {
    value: 'HASH',
    description:
      'Select the key by the hash of its identifier instead of KEY_ID; use it if the identifier is a token, because the process list shows arguments',
    isCommon: true,
  },
  'key-id-file': { value: 'PATH', description: 'Read the identifier from a file instead of KEY_ID', isCommon: true },
  ...keysOptions,
};

/** The option `--reset-quota`. */
export const resetQuotaOption: Option = { description: 'Also reset the live quota' };

/** The option `--expected-version`. */
export const expectedVersionOption: Option = {
  value: 'N',
  description: 'Reject the change unless the key has this version',
};

/** The option `--reason`. */
export const reasonOption: Option = {
  value: 'TEXT',
  description: 'Reason recorded in the history; do not include secrets',
};

/** Help text: which keys a command works on, and what it prints. */
export const keyLocation =
  'Works on the data folder, where a service may be running, or with --url on a service. Prints text on a terminal, otherwise JSON.';

/** Help text: where the definition comes from. */
export const definitionFile = `FILE contains the definition with the field names of REST; \`-\` reads standard input. ${keyLocation}`;

/** Exit code 2 of the commands for one key. */
export const cannotAccess = 'invalid usage, or the key cannot be accessed: no file, service or valid credential';

/** Exit codes of the commands that change one key. */
export const changeExitCodes: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'rejected; the reasons are printed',
  2: cannotAccess,
};
