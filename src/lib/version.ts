/** The version that package.json has, which a test holds it to: a bundled build has no package.json beside it. */
export const version = '0.1.0';
