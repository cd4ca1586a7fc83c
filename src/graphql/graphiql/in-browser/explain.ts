import type { CredentialHeader } from './browser.js';

/** A credential header, and what was sent in it; '' where nothing was. */
export interface SentHeader extends CredentialHeader {
  readonly value: string;
}

/**
 * Says in words what to do about an answer UNAUTHENTICATED. Knows no more about a credential than can be seen in the page,
 * since the service tells nobody why it refuses one. `needed` is a kind, or `any` for the schema.
 */
export function explain(needed: string, sent: readonly SentHeader[]): string {
  const prefixOf = ({ beginning }: CredentialHeader) => beginning.split(' ').at(-1) ?? '';
  const header = sent.find(({ kind }) => kind === needed);
  if (header === undefined) {
    return sent.every(({ value }) => value === '')
      ? 'The docs and the completion are shown to holders of a credential only. Paste yours under Headers, below the operation, and press the play button: they come by themselves then.'
      : 'The docs and the completion are shown to holders of a credential only, and what stands under Headers opens nothing here. They come by themselves once an operation has been answered.';
  }
  const { kind, name, beginning, value } = header;
  const source = `The first “npm start” showed one; “npx keyfront credentials issue --kind ${kind} --label me” makes another.`;
  if (value === '') {
    return `This operation needs a ${kind} credential. Paste yours under Headers, below the operation: "${name}": "${beginning}…". ${source}`;
  }
  const other = sent.find((one) => one.kind !== kind && value.includes(prefixOf(one)));
  if (other !== undefined) {
    return `What stands in ${name} begins like a ${other.kind} credential. This operation needs a ${kind} credential there, which begins with ${prefixOf(header)}. ${source}`;
  }
  if (beginning.includes(' ') && !/^bearer \S/i.test(value)) {
    return `${name} must hold the word Bearer, a space, and then the credential: "${name}": "${beginning}…".`;
  }
  return `The credential in ${name} opens nothing here. See whether it is whole and belongs to this service; “npx keyfront credentials list” shows the valid ones. ${source}`;
}
