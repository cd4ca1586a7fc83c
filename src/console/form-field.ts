/** A field of a definition, as the form shows it. codegen.ts derives it from the input types of the schema. */
export interface FormField {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
  /** Whether the value is write-only: it is never returned, and stays unless another one is sent. */
  readonly isSecret: boolean;
  readonly isEditable: boolean;
  readonly unit?: string;
  readonly description: string;
  /** The fields of an object, or of each object in a list. */
  readonly fields?: readonly FormField[];
}
