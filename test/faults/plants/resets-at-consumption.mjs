// A mutant: a reset that was carried out is carried out once more by the next consumption, which is then not counted.
import { rewrite } from './rewrite.mjs';

globalThis.resetKeys = new Set();
rewrite(
  /(\n *)const next = command\.apply\(authorized, (\w+)\);/,
  '$1const next = command.apply(authorized, $2);$1if (isReset) globalThis.resetKeys.add(next.keyHash);',
);
rewrite(
  /const decision = consume\d*\(requireKey\(caller, stored\), amount, \w+\(\)\);/,
  '$&\n        if (decision.next && globalThis.resetKeys.delete(stored.keyHash)) decision.next.used = 0n;',
);
