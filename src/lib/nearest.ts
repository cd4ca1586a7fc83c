import { closestMatch } from 'leven';

/** Returns the closest match for a misspelt name. Case and underscores are ignored. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const normalize = (text: string) => text.replaceAll('_', '').toLowerCase();
  const byNormalized = new Map([...known].map((candidate) => [normalize(candidate), candidate]));
  const wanted = normalize(name.slice(0, 64));
  const match = closestMatch(wanted, [...byNormalized.keys()], {
    maxDistance: Math.max(1, Math.floor(wanted.length / 3)),
  });
  return match === undefined ? undefined : byNormalized.get(match);
}
