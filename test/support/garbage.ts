import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage. A weak reference keeps its target alive until the end of the current task. */
export const collectGarbage = runInNewContext('gc') as () => void;
