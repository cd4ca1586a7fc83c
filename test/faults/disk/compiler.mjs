// What stands between a process and the C library is compiled where it is needed.
import { execFileSync } from 'node:child_process';

const compiler = ['cc', 'gcc', 'clang'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** Whether this machine can load a library of ours into a process. */
export const canPreload = process.platform === 'linux' && compiler !== undefined;

/** Compiles a source to a library for LD_PRELOAD. */
export function compileLibrary(/** @type {string} */ source, /** @type {string} */ library) {
  const flags = ['-O2', '-Wall', '-shared', '-fPIC'];
  execFileSync(compiler ?? 'cc', [...flags, '-o', library, source, '-ldl', '-pthread']);
}
