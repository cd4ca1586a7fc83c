import { createHash } from 'node:crypto';
import type { Entry } from './ledger.js';
import type { Stored } from './stored.js';
import { startMark } from './workspace.js';

/** What a fault must not do. */
export interface Finding {
  readonly kind: 'lost' | 'invented' | 'half' | 'wrong answer' | 'damaged';
  readonly what: string;
}

/** Everything in which a database is not what its clients know of it. */
export function compare(ledger: readonly Entry[], stored: Stored): Finding[] {
  return [...lost(ledger, stored), ...invented(ledger, stored), ...half(stored), ...quota(ledger, stored)];
}

/** The service hashes identifiers with SHA-256 unless it is told otherwise. */
export const hashOf = (keyID: string) => createHash('sha256').update(keyID, 'utf8').digest('hex');

/** Answers that are wrong in themselves, whatever the database holds. */
export function wrongAnswers(ledger: readonly Entry[]): Finding[] {
  return ledger
    .filter(({ wrong }) => wrong !== undefined)
    .map((entry) => ({ kind: 'wrong answer', what: `${nameOf(entry)}: the answer ${entry.wrong}: ${entry.answer}` }));
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
  const asked = new Map(ledger.filter(({ kind }) => kind !== 'consume').map((entry) => [entry.mark, entry]));
  const seen = new Set<string>();
  const findings: Finding[] = [];
  const found = (what: string) => findings.push({ kind: 'invented', what });
  for (const [keyHash, history] of histories) {
    for (const { version, mark } of history) {
      if (mark === startMark && version === 1) continue;
      const entry = asked.get(mark);
      if (entry === undefined) found(`version ${version} of ${keyHash} holds ${mark}, which nobody asked for`);
      else if (hashOf(entry.keyID) !== keyHash) found(`${nameOf(entry)}: is in the history of another key, ${keyHash}`);
      else if (entry.outcome === 'refused')
        found(`${nameOf(entry)}: was refused (${entry.answer}), and is version ${version}`);
      else if (seen.has(mark)) found(`${nameOf(entry)}: was done twice`);
      seen.add(mark);
    }
  }
  return findings;
}

/** A key that is at odds with its own history, or found under tags that it has not. */
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

function quota(ledger: readonly Entry[], { keys }: Stored): Finding[] {
  const findings: Finding[] = [];
  const consumptions = ledger.filter(({ kind }) => kind === 'consume');
  for (const keyID of new Set(consumptions.map((entry) => entry.keyID))) {
    const sum = (outcome: Entry['outcome']) =>
      consumptions
        .filter((entry) => entry.keyID === keyID && entry.outcome === outcome)
        .reduce((total, { amount }) => total + amount, 0);
    const used = keys.get(hashOf(keyID))?.used ?? 0;
    const [least, most] = [sum('ok'), sum('ok') + sum('maybe')];
    if (used < least) findings.push({ kind: 'lost', what: `${used} are used of ${keyID}, and ${least} were granted` });
    if (used > most)
      findings.push({ kind: 'invented', what: `${used} are used of ${keyID}, and ${most} were asked for` });
  }
  return findings;
}

function nameOf({ kind, face, keyID, mark }: Entry): string {
  return `${kind} ${mark} of ${keyID} (${face})`;
}
