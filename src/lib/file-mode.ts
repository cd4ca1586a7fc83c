import { platform } from 'node:os';

/** Whether users other than its owner can access a file of this mode. Windows has no such modes. */
export function isOpenToOthers(mode: number, system: string = platform()): boolean {
  return system !== 'win32' && (mode & 0o077) !== 0;
}
