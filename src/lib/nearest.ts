import { closestMatch } from 'leven';

/** Returns the closest match for a misspelt name. Case and underscores are ignored. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.replaceAll('_', '').toLowerCase();
  const byPlain = new Map([...known].map((candidate) => [plain(candidate), candidate]));
  const wanted = plain(name.slice(0, 64));
  const match = closestMatch(wanted, [...byPlain.keys()], { maxDistance: Math.max(1, Math.floor(wanted.length / 3)) });
  return match === undefined ? undefined : byPlain.get(match);
}
