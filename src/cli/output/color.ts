import { styleText } from 'node:util';
import type { IO } from '../io.js';

type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

/** Functions that colour a text, or return it unchanged. */
export type Paint = Readonly<Record<Style, (text: string) => string>>;

/** Enables colours if standard output is a terminal. FORCE_COLOR overrides NO_COLOR, as in Node. */
export function createPaint({ env, isStdoutTTY }: IO): Paint {
  const forceColor = env['FORCE_COLOR'];
  const isEnabled =
    forceColor === undefined || forceColor === ''
      ? isStdoutTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
      : !['0', 'false'].includes(forceColor);
  // `validateStream: false`: otherwise `styleText` would decide from the streams of the process.
  const paint = (style: Style) => (text: string) =>
    isEnabled ? styleText(style, text, { validateStream: false }) : text;
  return { red: paint('red'), green: paint('green'), yellow: paint('yellow'), dim: paint('dim'), bold: paint('bold') };
}
