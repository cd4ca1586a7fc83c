import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url).pathname;

/**
 * The hardening checklist: the requirement of each line. The title of a test that verifies a line begins with its
 * identifier.
 */
export const requirements: Readonly<Record<string, string>> = {
  'T-01':
    'Plain HTTP is served on loopback only, unless the profile is production. TLS is 1.2 or later, without a redirect from HTTP.',
  'T-02': 'Headers, requests, responses, idle connections and TLS handshakes have timeouts.',
  'T-03': 'A body over the limit is rejected with 413 without reading the rest, with and without Content-Length.',
  'T-04': 'Requests that allow smuggling (two lengths, other transfer codings, folded lines) are rejected with 400.',
  'T-05': 'A repeated Host or Content-Type, and an absolute target, are rejected with 400.',
  'T-06':
    'Unknown methods return 405 with Allow, unknown paths 404. HEAD, OPTIONS, case and final slashes are defined.',
  'T-07': 'Other content types than JSON in UTF-8 are rejected with 415.',
  'T-08':
    'Every response forbids caching and MIME sniffing and does not name the server. The GraphiQL page has a content security policy.',
  'T-09': 'Compressed bodies are rejected with 415, invalid UTF-8 with 400.',
  'T-10': 'CORS is off by default. Origins match exactly, and credentials of the browser are never allowed.',
  'A-01':
    'Every route and every root field rejects each kind of missing, invalid, expired, revoked and foreign credential.',
  'A-02': 'Each operation accepts its own kind of credential only, also when both headers are present.',
  'A-03': 'A repeated or joined credential header is rejected.',
  'A-04': 'Credentials are found by the hash of the whole secret and compared in constant time.',
  'A-05': 'The response time does not reveal how much of a credential is right.',
  'A-06': 'A 401 has one fixed body. Credentials are verified before parameters, identifiers and bodies are read.',
  'A-07':
    'Failed attempts are limited per address and credential, with 429 and Retry-After. Valid credentials stay valid.',
  'A-08': 'A key of another organization is NOT_FOUND by identifier, hash, node, list, entity and subscription.',
  'A-09': 'No field of the schema and no response contains a secret.',
  'A-10': 'There are no default credentials, and none with an empty or published secret.',
  'A-11': 'Credentials rotate without a restart. Revocation takes effect within five seconds.',
  'A-12': 'A credential in the query string is rejected and not logged.',
  'G-01': 'graphql-cop has no finding in production.',
  'G-02': 'The depth of operations is limited, through fragments too.',
  'G-03': 'The number of aliases is limited, through fragments too.',
  'G-04': 'The number of directives is limited.',
  'G-05': 'Batches are rejected.',
  'G-06': 'Tokens and characters of a document are limited.',
  'G-07': 'Circular and doubling fragments are rejected without walking them.',
  'G-08': 'A field that is repeated is executed once.',
  'G-09': 'The cost of an operation and the size of a response are limited, variables and defaults included.',
  'G-10': 'An operation has a deadline of five seconds. Nothing is written after it.',
  'G-11': 'Introspection requires a credential in production.',
  'G-12': 'Errors do not suggest names of the schema.',
  'G-13': 'Mutations over GET are rejected with 405. Forms and other simple requests are rejected.',
  'G-14': 'Errors do not contain values of the request.',
  'G-15': 'Internal errors are masked, in resolvers, promises, mutations and the context.',
  'G-16': '`_service` and `_entities` require a credential in production.',
  'G-17':
    'Each representation is authorized alone. Their cost is limited, and 100 of them are read with a constant number of statements.',
  'G-18': 'Inaccessible fields are hidden.',
  'G-19': 'Trusted documents are executed by their identifiers. Unknown identifiers are rejected.',
  'G-20': 'The caches of documents are bounded.',
  'G-21': 'The mutations of an operation are executed one after the other, and their number is limited.',
  'G-22': 'GraphiQL is off in production by default, loads nothing from other hosts and stores no credential.',
  'G-23': 'Preview and update give the same result through REST and GraphQL.',
  'R-01': 'Malformed key identifiers are INVALID, and the path is decoded once.',
  'R-02': 'Different identifiers are different keys.',
  'R-03': '`reset_quota` is `1` or absent. Every other value is rejected, and nothing is written.',
  'R-04': 'Repeated members of JSON objects are rejected.',
  'R-05': '`__proto__`, `constructor` and `prototype` are rejected, and no prototype changes.',
  'R-06': 'The depth and the number of values of a body are limited.',
  'R-07': 'Every number has one documented result, and 64-bit integers are stored exactly.',
  'R-08': 'Lone surrogates and NUL are rejected. Other text is stored unchanged.',
  'R-09': 'Incomplete bodies, trailing data and other types than objects are rejected, and nothing is written.',
  'R-10': 'Unknown fields, and fields of the other operation, are rejected.',
  'R-11': 'A preview writes nothing.',
  'R-12': 'Every rule and every warning has a test of its code and message.',
  'R-13': 'A placeholder of a secret never becomes the secret.',
  'R-14': 'A repeated update has the same effect as one.',
  'D-01': 'The database uses WAL with synchronous=FULL, after writes too.',
  'D-02': 'No acknowledged change is lost when the process is killed.',
  'D-03': 'No acknowledged change is lost at a power failure.',
  'D-04': 'A full disk rejects changes, serves reads and recovers without a restart.',
  'D-05': 'After a failed write or sync no change is acknowledged, and the process exits.',
  'D-06': 'A path that cannot be used is reported at the start.',
  'D-07': 'A database that another process has locked returns UNAVAILABLE and does not block reads.',
  'D-08': 'A damaged file is detected at the start or when the row is read.',
  'D-09': 'The write-ahead log is bounded.',
  'D-10': 'A database of a newer version is rejected and not changed.',
  'D-11': 'A backup is consistent while changes are written.',
  'D-12': 'A restored backup is complete and can be decrypted.',
  'D-13': 'Data files are readable by their owner only.',
  'D-14': 'Two processes may use one file.',
  'D-15': 'SQL statements are constant, and values are parameters.',
  'D-16': 'PostgreSQL runs the same suites, with retries, reconnection and a bounded pool.',
  'S-01': 'No secret appears in a log, response, metric, trace, history entry or backup.',
  'S-02': 'Log lines contain routes and hashes instead of paths and key identifiers.',
  'S-03': 'Labels of metrics are bounded.',
  'S-04': 'Errors of parsers are not returned and not logged.',
  'S-05': 'A ciphertext is valid for its own row and field only.',
  'S-06': 'Nonces do not repeat.',
  'S-07': 'Rotation re-encrypts everything. A missing or foreign key ring stops the start and changes nothing.',
  'S-08': 'The key ring must be readable by its owner only, and no output contains a secret setting.',
  'S-09': 'Passwords are hashed with argon2id or bcrypt. bcrypt rejects input over 72 bytes.',
  'S-10': 'Password hashing is bounded, in parallel calls and in its queue.',
  'S-11': 'Inspecting or serializing a key ring shows no key.',
  'S-12': 'The inspector, reports and heap snapshots are off in production.',
  'C-01': 'Concurrent changes with expected versions lose no update.',
  'C-02': 'A stale version is CONFLICT, 412 in REST.',
  'C-03': 'A change and its history entry are one transaction.',
  'C-04': 'The history of a key is linearizable.',
  'C-05': 'Versions and times of a key increase, also when the clock is set back.',
  'C-06': 'Of concurrent creations of a key, one succeeds.',
  'C-07': 'Transactions in SQLite are synchronous.',
  'P-01': 'Packages come from the public registry, with hashes, and run no install scripts but listed ones.',
  'P-02': 'Runtime dependencies are few, each with a reason in the README, under permissive licenses.',
  'P-03': 'The bill of materials lists what is shipped, and packing is reproducible.',
  'P-04': 'The service runs without `__proto__`.',
  'P-05': 'The repository and the package contain no secret.',
  'O-01':
    'SIGTERM completes requests in progress, closes the database and exits with 0. A second signal exits at once.',
  'O-02': '`/health` and `/ready` show no details.',
  'O-03':
    'An unexpected error is logged without secrets, requests in progress are completed, and the process exits with 1.',
  'O-04': 'A change without its history entry is rejected, and the chain of entries reveals manipulation.',
  'O-05': 'A log entry is one line for every input.',
  'O-06': 'Under overload, requests are rejected with 503 and Retry-After while health checks are served.',
  'O-07': 'Time is injected, and expiry is exact to the second.',
  'O-08': 'Invalid and contradictory settings stop the start, and all of them are reported at once.',
};

/** The reason for each line without a test. */
export const untested: Readonly<Record<string, string>> = {
  'A-05':
    'the times are compared by `node test/bench/timing-of-rejections.mjs`, because tests assert no timings: an expired credential differs from an unknown one by less than a microsecond, under 1 %.',
  'D-14':
    'SQLite’s locks separate them, and test/system/consistency runs its histories through two processes. A lock file would forbid the command line beside the service.',
  'S-06':
    'a nonce has 96 random bits of the operating system; a million of them repeat with a chance of one in ten to the sixteenth, which no test of that size could show.',
};

/** The test files that verify each line, with the number of their tests. */
export function titlesByLine(): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const found = new Map<string, Map<string, number>>();
  const files = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:test|contract)\.ts$/.test(name) && !name.includes('node_modules'))
    .toSorted();
  for (const file of files) {
    const titles = readFileSync(`${root}test/${file}`, 'utf8').matchAll(/['"`]((?:[A-Z]-\d\d )+)\S/g);
    for (const id of [...titles].flatMap(([, ids = '']) => ids.trim().split(' '))) {
      const counts = found.get(id) ?? new Map<string, number>();
      found.set(id, counts.set(file, (counts.get(file) ?? 0) + 1));
    }
  }
  return found;
}

/** The table of SECURITY.md. */
export function checklistTable(): string {
  const titles = titlesByLine();
  const rows = Object.entries(requirements).map(([id, requirement]) => {
    const files = [...(titles.get(id) ?? [])].map(([file, count]) => `test/${file}${count > 1 ? ` (${count})` : ''}`);
    return `| ${id} | ${requirement} | ${files.join(', ') || `Not tested: ${untested[id] ?? ''}`} |`;
  });
  return ['| Line | Requirement | Tests |', '|---|---|---|', ...rows, ''].join('\n');
}

const document = `${root}SECURITY.md`;

/** The present content of SECURITY.md, and its content with the current table. */
export function securityDocument(): { readonly actual: string; readonly expected: string } {
  const actual = readFileSync(document, 'utf8');
  const [begin = '', end = ''] = ['<!-- checklist -->\n', '<!-- /checklist -->'];
  const at = actual.indexOf(begin) + begin.length;
  return { actual, expected: actual.slice(0, at) + checklistTable() + actual.slice(actual.indexOf(end)) };
}

// `npx node test/support/checklist.ts` writes the table.
if (import.meta.main) writeFileSync(document, securityDocument().expected);
