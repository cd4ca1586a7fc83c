/** The texts of the page that creates a key. */
export const createText = {
  title: 'Create key',
  org: {
    label: 'Organization',
    hint: 'It owns the key and cannot be changed afterwards.',
  },
  identifier: {
    title: 'Identifier',
    hint: 'Without an entry here, the service generates one that nobody can guess.',
    prefix: 'Readable beginning',
    prefixHint: 'Letters, digits, dots, hyphens and underscores, such as acme_live_. Default: the organization.',
    own: 'Own identifier',
    ownHint: 'Only to take over a key that exists elsewhere. At most 255 bytes, without a slash.',
  },
  aside: 'Create',
  explanation: 'Check the fields, then create the key. Its identifier is shown on the next page.',
  submit: 'Create key',
  done: {
    title: (name: string) => `${name} is created`,
    open: 'Open the key',
    another: 'Create another key',
  },
} as const;
