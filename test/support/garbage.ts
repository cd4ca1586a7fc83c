import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage. A weak reference holds its target until the end of the task. */
export const collectGarbage = runInNewContext('gc') as () => void;
