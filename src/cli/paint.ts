import type { IO } from './io.js';

const codes = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;

export type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Colours where a terminal shows results: FORCE_COLOR first, then NO_COLOR, as Node itself has it. */
export function createPaint({ env, isTerminal }: IO): Paint {
  const forced = env['FORCE_COLOR'];
  const isOn =
    forced === undefined || forced === ''
      ? isTerminal === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
      : !['0', 'false'].includes(forced);
  const paint = (code: number) => (text: string) => (isOn ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    dim: paint(codes.dim),
    bold: paint(codes.bold),
  };
}
