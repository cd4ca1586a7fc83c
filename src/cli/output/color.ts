import { styleText } from 'node:util';
import type { IO } from '../io.js';

type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

export type Paint = Readonly<Record<Style, (text: string) => string>>;

/** Colours if a terminal shows results: FORCE_COLOR first, then NO_COLOR, as in Node. */
export function createPaint({ env, isStdoutTTY: isTerminal }: IO): Paint {
  const forced = env['FORCE_COLOR'];
  const isOn =
    forced === undefined || forced === ''
      ? isTerminal === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
      : !['0', 'false'].includes(forced);
  // `isOn` is decided here: `styleText` would look at the streams of the process.
  const paint = (style: Style) => (text: string) => (isOn ? styleText(style, text, { validateStream: false }) : text);
  return { red: paint('red'), green: paint('green'), yellow: paint('yellow'), dim: paint('dim'), bold: paint('bold') };
}
