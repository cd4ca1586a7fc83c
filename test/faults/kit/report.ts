import { wrongResponses, type Finding } from './compare.js';
import { countOf, type Entry } from './ledger.js';

/** The results of a harness. The table in the README of this folder contains them. */
export interface Report {
  readonly harness: string;
  readonly seed: number;
  /** Number of injected faults. */
  readonly cases: number;
  readonly seconds: number;
  readonly acknowledged: number;
  /** Operations whose effect the client does not know. */
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

/** Returns the median and the maximum of the times until the service had recovered, for `Report.more`. */
export function recoveryOf(ms: readonly number[]): Report['more'] {
  const sorted = ms.toSorted((one, other) => one - other);
  return { recoveryP50Ms: sorted[Math.floor(sorted.length / 2)], recoveryMaxMs: sorted.at(-1) };
}

/** Creates the report of a run. */
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
    /** Adds findings, with the parameters that repeat the case. */
    addFindings,
    /** Counts the outcomes in a ledger, and adds its invalid responses. */
    addLedger: (entries: readonly Entry[], where: string) => {
      acknowledged += countOf(entries, 'ok');
      open += countOf(entries, 'maybe');
      addFindings(wrongResponses(entries), where);
    },
    /** Returns the number of findings, of one kind or of all. */
    found: (kind?: Finding['kind']) => findings.filter((finding) => kind === undefined || finding.kind === kind).length,
    end: (more: Report['more'] = {}): Report => {
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      return { harness, seed, cases, seconds, acknowledged, open, findings, more };
    },
  };
}
