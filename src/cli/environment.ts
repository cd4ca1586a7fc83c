import { describeSettings } from '../config/settings.js';

/** Returns descriptions of the environment variables: the settings, and variables that other programs use too. */
export function describeEnvironment(): Record<string, string> {
  return {
    ...describeSettings(),
    NO_COLOR: 'Any value disables colours.',
    FORCE_COLOR: 'Any value except 0 enables colours, also without a terminal.',
    NODE_EXTRA_CA_CERTS: 'PEM file with additional certificate authorities to trust.',
  };
}

/** Variables of the commands that open the data folder. */
export const storageVariables = ['KEYFRONT_DATA', 'KEYFRONT_KEY_RING', 'KEYFRONT_DATABASE_URL'] as const;

/** Variables of the commands that print colours. */
export const colorVariables = ['NO_COLOR', 'FORCE_COLOR'] as const;

/** Variables of the commands that work on the data folder or, with `--url`, on a service. */
export const keyVariables = [
  'KEYFRONT_URL',
  'KEYFRONT_SERVICE_CREDENTIAL',
  'NODE_EXTRA_CA_CERTS',
  ...storageVariables,
  ...colorVariables,
] as const;
