/** Licenses that permit everything that users do with Keyfront. */
const permissive = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];

/** Whether a package under a license, an SPDX expression, may be part of what ships. */
export function isPermissive(license: string): boolean {
  return license
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((one) => permissive.includes(one));
}
