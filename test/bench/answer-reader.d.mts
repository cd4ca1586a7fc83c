export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly closes: boolean;
}
export class AnswerReader {
  push(chunk: Buffer): Answer | undefined;
}
