import { hashOf } from '../../support/factories.js';
import type { Entry } from './ledger.js';
import type { Stored } from './stored.js';
import { startMark } from './workspace.js';

/** A violation that a fault must not cause. */
export interface Finding {
  readonly kind: 'lost' | 'invented' | 'half' | 'wrong response' | 'damaged';
  readonly what: string;
}

/** Returns every contradiction between a database and the ledger of its clients. */
export function compare(ledger: readonly Entry[], stored: Stored): Finding[] {
  return [...lost(ledger, stored), ...invented(ledger, stored), ...half(stored), ...quota(ledger, stored)];
}

/** Returns the responses that are invalid independently of the content of the database. */
export function wrongResponses(ledger: readonly Entry[]): Finding[] {
  return ledger
    .filter(({ flaw }) => flaw !== undefined)
    .map((entry) => ({
      kind: 'wrong response',
      what: `${nameOf(entry)}: the response ${entry.flaw}: ${entry.response}`,
    }));
}

function lost(ledger: readonly Entry[], { histories }: Stored): Finding[] {
  const findings: Finding[] = [];
  for (const entry of ledger) {
    if (entry.outcome !== 'ok' || entry.kind === 'consume') continue;
    const found = histories.get(hashOf(entry.keyID))?.find(({ version }) => version === entry.version);
    if (found?.mark === entry.mark) continue;
    const instead = found ? `that version holds ${found.mark}` : 'there is no such version';
    findings.push({ kind: 'lost', what: `${nameOf(entry)}: acknowledged as version ${entry.version}, and ${instead}` });
  }
  return findings;
}

function invented(ledger: readonly Entry[], { histories }: Stored): Finding[] {
  const changes = ledger.filter(({ kind }) => kind !== 'consume');
  const byMark = new Map(changes.map((entry) => [entry.mark, entry]));
  // A bulk change has an entry with the same mark for each of its keys.
  const ofKey = new Map(changes.map((entry) => [`${hashOf(entry.keyID)} ${entry.mark}`, entry]));
  const findings: Finding[] = [];
  const found = (what: string) => findings.push({ kind: 'invented', what });
  for (const [keyHash, history] of histories) {
    const seen = new Set<string>();
    for (const { version, mark } of history) {
      if (mark === startMark && version === 1) continue;
      const entry = ofKey.get(`${keyHash} ${mark}`);
      const other = byMark.get(mark);
      if (!entry && !other) found(`version ${version} of ${keyHash} holds ${mark}, which no client sent`);
      else if (!entry) found(`${other ? nameOf(other) : mark}: is in the history of another key, ${keyHash}`);
      else if (entry.outcome === 'rejected')
        found(`${nameOf(entry)}: was rejected (${entry.response}), and is version ${version}`);
      else if (seen.has(mark)) found(`${nameOf(entry)}: was done twice`);
      seen.add(mark);
    }
  }
  return findings;
}

/** Returns the keys that contradict their history or their index of tags. */
function half({ keys, histories }: Stored): Finding[] {
  const findings: Finding[] = [];
  const found = (what: string) => findings.push({ kind: 'half', what });
  for (const [keyHash, { version, mark, terms }] of keys) {
    const history = histories.get(keyHash) ?? [];
    const last = history.at(-1);
    if (last?.version !== version || last.mark !== mark) {
      found(`${keyHash} is at version ${version} (${mark}), its history at ${last?.version} (${last?.mark})`);
    }
    if (history.some((change, index) => change.version !== index + 1)) found(`the history of ${keyHash} has a gap`);
    if (terms.length !== 1 || terms[0] !== mark)
      found(`${keyHash} holds ${mark} and is found under ${terms.join(', ')}`);
  }
  for (const keyHash of histories.keys()) if (!keys.has(keyHash)) found(`${keyHash} has a history and no key`);
  return findings;
}

/** Checks the used quota against its bounds, from consumptions and resets in the order of the ledger. */
function quota(ledger: readonly Entry[], { keys }: Stored): Finding[] {
  const findings: Finding[] = [];
  const counting = ledger.filter(({ kind, isReset }) => kind === 'consume' || isReset === true);
  for (const keyID of new Set(counting.map((entry) => entry.keyID))) {
    let [min, max] = [0, 0];
    for (const { outcome, isReset, amount } of counting.filter((entry) => entry.keyID === keyID)) {
      if (outcome === 'rejected') continue;
      if (isReset === true) [min, max] = [0, outcome === 'ok' ? 0 : max];
      else [min, max] = [min + (outcome === 'ok' ? amount : 0), max + amount];
    }
    const used = keys.get(hashOf(keyID))?.used ?? 0;
    if (used < min) findings.push({ kind: 'lost', what: `${used} are used of ${keyID}, and ${min} were granted` });
    if (used > max)
      findings.push({ kind: 'invented', what: `${used} are used of ${keyID}, and ${max} were requested` });
  }
  return findings;
}

function nameOf({ kind, api, keyID, mark }: Entry): string {
  return `${kind} ${mark} of ${keyID} (${api})`;
}
