import { inject } from 'vitest';

// The thread is shared: until the first test begins, the mutant of the last run would still be active.
if (inject('mutantActivation') !== 'static') globalThis.__stryker__.activeMutant = undefined;
