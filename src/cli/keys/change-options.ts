import { changeExitCodes, keyOptions, reasonOption } from '../client/run.js';
import type { Option } from '../command.js';
import { waitExitCodes, waitOptions } from '../gateways.js';
import { actorOption } from '../input.js';
import { proposeOptions } from './propose.js';

/**
 * Options of every command that changes one key: how it is changed, and which key it is.
 *
 * @param own - those of the command that stand before the options that select the key
 */
export function keyChangeOptions(own: Readonly<Record<string, Option>> = {}): Readonly<Record<string, Option>> {
  return { ...waitOptions, ...proposeOptions, reason: reasonOption, actor: actorOption, ...own, ...keyOptions };
}

/** Exit codes of every command that changes one key. */
export const keyChangeExitCodes = { ...changeExitCodes, ...waitExitCodes };
