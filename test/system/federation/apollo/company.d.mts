export interface User {
  readonly id: string;
  readonly name: string;
  readonly organization: { readonly id: string };
  readonly orgKey: { readonly keyHash: string } | null;
}

export const companySDL: string;
export function startCompany(users: readonly User[]): Promise<{ url: string; close: () => Promise<void> }>;
