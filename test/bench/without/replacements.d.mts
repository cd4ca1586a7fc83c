export const replacements: Readonly<Record<string, readonly { readonly module: string; readonly by: string }[]>>;
