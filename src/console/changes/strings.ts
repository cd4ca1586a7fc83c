/** The texts of the list of recent changes. */
export const changesText = {
  hint: 'The last change of each key, newest first. New changes appear by themselves. The page of a key has all of its changes.',
  filter: 'Organization',
  all: 'All organizations',
  feed: 'Recent changes',
  empty: 'No changes yet',
  emptyHint: 'Whatever is created, changed or deleted appears here.',
  older: 'Show older changes',
} as const;
