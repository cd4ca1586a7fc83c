/** The version of package.json, which a bundle does not carry along. */
export const version = '0.1.0';
