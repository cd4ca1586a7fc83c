// Audits what ships: `node src/build/audit.mjs` after a build. npm audit --omit=dev does not see the packages in the bundle,
// which are development packages here. This reports the vulnerable ones of the bill of materials, and exits with 1 if there is one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * The vulnerable packages of a bill of materials, one a line.
 *
 * @param {{ components: readonly { 'bom-ref': string, name: string, version: string }[] }} bill
 * @param {{ vulnerabilities: Readonly<Record<string, { severity: string, nodes: readonly string[], via: readonly (string | { title: string, url: string })[] }>> }} report
 *   What `npm audit --json` prints.
 */
export function shippedVulnerabilities({ components }, { vulnerabilities }) {
  const shipped = new Map(components.map((component) => [component['bom-ref'], component]));
  return Object.values(vulnerabilities).flatMap(({ severity, nodes, via }) =>
    nodes.flatMap((path) => {
      const found = shipped.get(path);
      if (found === undefined) return [];
      const reasons = via.map((reason) =>
        typeof reason === 'string' ? `by ${reason}` : `${reason.title} ${reason.url}`,
      );
      return [`${severity}: ${found.name} ${found.version}: ${reasons.join('; ')}`];
    }),
  );
}

function audit() {
  const bill = JSON.parse(readFileSync(join(root, 'dist/keyfront.cdx.json'), 'utf8'));
  // npm exits with 1 if it finds anything.
  const { stdout } = spawnSync('npm', ['audit', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    shell: process.platform === 'win32',
  });
  const report = JSON.parse(stdout);
  if (report.vulnerabilities === undefined) throw new Error(`npm audit failed: ${report.message ?? stdout}`);
  const found = shippedVulnerabilities(bill, report);
  for (const line of found) console.log(line);
  console.log(`${found.length} of ${bill.components.length} shipped packages are vulnerable.`);
  if (found.length > 0) process.exitCode = 1;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === import.meta.filename) audit();
