export const canPreload: boolean;
export function compileLibrary(source: string, library: string): void;
