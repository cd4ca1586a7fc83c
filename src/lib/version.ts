/** The version in package.json; a test compares them. A bundled build has no package.json beside it. */
export const version = '0.2.0';
