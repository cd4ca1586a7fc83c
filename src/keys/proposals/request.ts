import type { DefinitionPatch } from '../definition/patch.js';
import type { KeyDefinition } from '../definition/schema.js';
import type { ChangeKind } from './proposal.js';

interface DefinitionOptions {
  readonly resetQuota: boolean;
  readonly hasDecimalStrings: boolean;
}

/** What each kind of change needs beside the key: the members of the request of its command. */
interface Contents extends Record<ChangeKind, object> {
  readonly UPDATE: DefinitionOptions & { readonly input: KeyDefinition };
  readonly PATCH: DefinitionOptions & { readonly patch: DefinitionPatch };
  readonly REVERT: { readonly toVersion: number };
  readonly ROTATE: {
    readonly overlapSeconds?: number | undefined;
    readonly silenceSeconds?: number | undefined;
    readonly keyIDPrefix?: string | undefined;
  };
  readonly CREATE: {
    readonly input: KeyDefinition;
    readonly keyID?: string | undefined;
    readonly keyIDPrefix?: string | undefined;
  };
}

/** A change that can be proposed. */
export type ProposedChange = {
  [Kind in ChangeKind]: { readonly kind: Kind; readonly content: Contents[Kind] };
}[ChangeKind];

/** What is sealed with a proposal. */
export interface ProposedRequest {
  readonly change: ProposedChange;
  /** The random digits of a generated identifier, so that the dry run and the change have the same. */
  readonly randomHex: string;
}

/** Seals the requests of proposals. */
export interface RequestCodec {
  readonly seal: (request: ProposedRequest, proposalID: string) => Uint8Array;
  /** The inverse of `seal`. @throws {AppError} INTERNAL when the request cannot be opened. */
  readonly open: (sealed: Uint8Array, proposalID: string) => ProposedRequest;
}
