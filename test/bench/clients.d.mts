export interface Client {
  readonly name: string;
  readonly label: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}
export const browserOrigin: string;
export const clients: readonly [Client, ...Client[]];
export const headlineClient: Client;
