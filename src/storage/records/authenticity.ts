/** How storage knows its own rows again. Which keys it takes, and where they are kept, is not storage's affair. */
export interface Authenticity {
  /** A signature of the text, under the key that signs now. */
  readonly sign: (content: string) => Uint8Array;
  /** Whether the signature is one of exactly this text, under any key that is still kept. */
  readonly isAuthentic: (content: string, signature: Uint8Array) => boolean;
  /** What every signature under the key that signs now begins with. */
  readonly currentHead: () => Uint8Array;
}
