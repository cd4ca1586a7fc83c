export interface TestResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly closes: boolean;
}
export class ResponseReader {
  push(chunk: Buffer): TestResponse | undefined;
}
