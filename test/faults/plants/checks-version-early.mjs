// A mutant: the expected version is compared before the transaction, and not in it.
import { rewrite } from './rewrite.mjs';

rewrite(
  /(const apply = \(stored\) => \{[\s\S]{0,300}?)if \(before\)\s*assertExpectedVersion\(before, expectedVersion\);/,
  'const early = await store.find(keyHash);\n    if (early) assertExpectedVersion(early, expectedVersion);\n    $1',
);
