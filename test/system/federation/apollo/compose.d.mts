/** The errors and hints of a composition, and its result. */
export interface Composed {
  readonly messages: readonly string[];
  readonly supergraphSDL: string;
}

export type Compose = (subgraphs: Readonly<Record<string, string>>) => Composed;

export const composers: readonly (readonly [name: string, compose: Compose])[];
