// A mutant: the expected version is compared before the transaction, and not in it.
import { rewrite } from './rewrite.mjs';

rewrite(
  /(const \{ next, audit, quotaChange \} = await store\.update\((\w+), \(stored\) => \{[\s\S]{0,300}?)if \(before\)\s*requireVersion\(before, step\.expectedVersion\);/,
  'const early = await store.find($2);\n      if (early) requireVersion(early, step.expectedVersion);\n      $1',
);
