/** The texts of the list of recent changes. */
export const changesText = {
  hint: 'Every change of a key, and what became of keys in time, newest first. New ones appear by themselves.',
  feed: 'Recent changes',
  empty: 'No changes yet',
  emptyHint: 'Whatever is created, changed or deleted appears here.',
  older: 'Show older changes',
  damaged: 'A change cannot be read: it fails its integrity check. The log of the service has the cause.',
} as const;
