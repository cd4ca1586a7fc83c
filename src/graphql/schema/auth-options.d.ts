import type { FieldNullability, InputFieldMap, SchemaTypes as AnyTypes, TypeParam } from '@pothos/core';
import type { CredentialKind } from '../../credentials/credential.js';
import type { AuthPlugin } from './auth-plugin.js';

/** The type parameters are those that an extended interface must repeat. */
type RequiredCredential<_Parameters> = CredentialKind;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends AnyTypes> {
      auth: AuthPlugin<Types>;
    }

    export interface QueryFieldOptions<
      Types extends AnyTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      /** The credential that the operation requires. Its resolver receives the caller as its source. */
      readonly credential: RequiredCredential<[Types, Type, Nullable, Args, ResolveReturnShape]>;
    }

    export interface MutationFieldOptions<
      Types extends AnyTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      /** The credential that the operation requires. Its resolver receives the caller as its source. */
      readonly credential: RequiredCredential<[Types, Type, Nullable, Args, ResolveReturnShape]>;
    }

    export interface SubscriptionFieldOptions<
      Types extends AnyTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /** The credential that the operation requires. Its resolver receives the caller as its source. */
      readonly credential: RequiredCredential<[Types, Type, Nullable, Args, ResolveShape, ResolveReturnShape]>;
    }
  }
}
