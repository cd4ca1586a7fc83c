import { wrongResponses, type Finding } from './compare.js';
import { countOf, type Entry } from './ledger.js';

/** What a harness has seen; printed, and the source of the table in the README of this folder. */
export interface Report {
  readonly harness: string;
  readonly seed: number;
  /** How often the fault was made to happen. */
  readonly cases: number;
  readonly seconds: number;
  readonly acknowledged: number;
  /** Operations of which the client does not know whether they were done. */
  readonly open: number;
  readonly findings: readonly Finding[];
  readonly more: Readonly<Record<string, unknown>>;
}

/** Counts the findings of each kind, and prints a summary line. */
export function print({ findings, ...report }: Report): void {
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length;
  const counts = {
    lost: count('lost'),
    invented: count('invented'),
    half: count('half'),
    wrongResponses: count('wrong response'),
    damaged: count('damaged'),
  };
  console.log(`faults: ${JSON.stringify({ ...report, ...counts })}`);
}

/** Collects what happens in a run. */
export function startReport(harness: string, seed: number) {
  const began = performance.now();
  const findings: Finding[] = [];
  let cases = 0;
  let acknowledged = 0;
  let open = 0;
  const addFindings = (found: readonly Finding[], where: string) => {
    findings.push(...found.map(({ kind, what }) => ({ kind, what: `${where}: ${what}` })));
  };
  return {
    addCase: () => {
      cases += 1;
    },
    /** Findings of the case with the seed that brings it back. */
    addFindings,
    /** Counts what the clients of a folder have got, when all is over with it. */
    addLedger: (entries: readonly Entry[], where: string) => {
      acknowledged += countOf(entries, 'ok');
      open += countOf(entries, 'maybe');
      addFindings(wrongResponses(entries), where);
    },
    /** The number of findings, or of those of one kind. */
    found: (kind?: Finding['kind']) => findings.filter((finding) => kind === undefined || finding.kind === kind).length,
    end: (more: Report['more'] = {}): Report => {
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      return { harness, seed, cases, seconds, acknowledged, open, findings, more };
    },
  };
}
