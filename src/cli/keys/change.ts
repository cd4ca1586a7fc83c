import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { changeResultToJSON, printChange, shortHash } from '../changes.js';
import { keyNotFound, type KeyChangeResult, type KeyClient } from '../client/operations.js';
import {
  stringOption,
  expectedVersionOption,
  changeOptionsFrom,
  runKeyCommand,
  keyLocation,
  parseNumberOption,
} from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { parseDuration, parseOverlap, confirm, gatewayEffect, notConfirmedExitCode, yesOption } from '../input.js';
import { waitFrom } from '../gateways.js';
import { type IO } from '../io.js';
import { toJSONLine } from '../output.js';
import type { CommandChange } from '../client/proposal-operations.js';
import { keyChangeExitCodes, keyChangeOptions } from './change-options.js';
import { proposerFrom } from './propose.js';

/** A command that changes one key without a definition of the caller. */
interface ChangeDeclaration extends Pick<CLICommand, 'alias' | 'summary' | 'description' | 'options'> {
  readonly name: `keys ${string}`;
  readonly example: string;
  readonly action: 'modified' | 'deleted' | 'restored' | 'rotation_canceled';
  /** Reads the change from the options, before the key is accessed: how to make it, and what to propose instead. */
  readonly changeFrom: (options: OptionValues) => {
    readonly make: (keys: KeyClient, keyID: string) => Promise<KeyChangeResult>;
    readonly proposed: CommandChange;
  };
  /** The question before the change. */
  readonly question?: (keys: KeyClient, keyID: string, typed: string | undefined) => Promise<string>;
}

function changeCommand(declaration: ChangeDeclaration): CLICommand {
  const { name, alias, summary, description, example, options: own, action, changeFrom, question } = declaration;
  return {
    name,
    ...(alias !== undefined && { alias }),
    summary,
    description: `${description} ${keyLocation}`,
    arguments: ['[KEY_ID]'],
    options: {
      ...own,
      ...keyChangeOptions(question && { yes: yesOption }),
    },
    exitCodes: keyChangeExitCodes,
    examples: [example],
    errorExitCode: 2,
    run: async (io, options, args) => {
      const { make, proposed } = changeFrom(options);
      const wait = waitFrom(io, options);
      const proposer = proposerFrom(io, options);
      return runKeyCommand({ io, command: name, options, args }, async (context) => {
        const { keys, gateways, format, keyID } = context;
        if (proposer) return proposer.propose(context, keyID, proposed, null);
        await wait.prepare(gateways, keyID);
        if (question && !(await confirm(io, options, () => question(keys, keyID, args[0]))))
          return notConfirmedExitCode;
        const result = await withWireIssuePaths(null, () => make(keys, keyID));
        printChange(io, format, { action, result, body: null });
        return wait.finish(gateways, keyID);
      });
    },
  };
}

export const deleteCommand = changeCommand({
  name: 'keys delete',
  alias: 'delete',
  summary: 'Delete a key',
  description: `${gatewayEffect} \`keys restore\` restores the key for the days of KEYFRONT_RESTORE_DAYS; after them it is purged with its history.`,
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys delete acme-billing --reason "contract ended"',
  action: 'deleted',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return {
      make: async (keys, keyID) => keys.delete(keyID, changeOptions),
      proposed: { kind: 'DELETE', content: {} },
    };
  },
  question: questionOf,
});

/** Names the key; its identifier only if the arguments do, because it may be a token. */
async function questionOf(keys: KeyClient, keyID: string, typed: string | undefined): Promise<string> {
  const key = await keys.find({ keyID });
  if (!key) throw keyNotFound();
  const name = typed === keyID ? keyID : shortHash(key.keyHash);
  const alias = key.alias === undefined ? '' : ` (${key.alias})`;
  return `Delete key ${printable(`${name}${alias} of ${key.orgID}`)}? ${gatewayEffect}`;
}

export const restoreKeyCommand = changeCommand({
  name: 'keys restore',
  alias: 'undelete',
  summary: 'Restore a deleted key',
  description: 'Possible for the days of KEYFRONT_RESTORE_DAYS after `keys delete`.',
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys restore acme-billing',
  action: 'restored',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return {
      make: async (keys, keyID) => keys.restore(keyID, changeOptions),
      proposed: { kind: 'RESTORE', content: {} },
    };
  },
});

export const rotateKeyCommand: CLICommand = {
  name: 'keys rotate',
  alias: 'rotate',
  summary: 'Give a key a new identifier, and print the identifier',
  description: `During the overlap both identifiers are accepted, and are the same key with one version, one history and one quota; then the old one is rejected. The new identifier is generated as by \`keys create\`. As text, standard output contains only the identifier. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    overlap: {
      value: '24h',
      description:
        'How long the old identifier is accepted, at most 90d; 0, for one that leaked, rejects it immediately (default 24h)',
    },
    silence: {
      value: '24h',
      description:
        'Retire the old identifier earlier: when the new one was used, and it had no request for this time (default: at the end of the overlap)',
    },
    prefix: {
      value: 'TEXT',
      description: 'Readable beginning of the new identifier, such as acme_live_ (default: the organization)',
    },
    'expected-version': expectedVersionOption,
    ...keyChangeOptions(),
  },
  exitCodes: keyChangeExitCodes,
  examples: ['keyfront keys rotate acme-billing --overlap 7d --reason "yearly rotation"'],
  run: rotate,
  errorExitCode: 2,
};

async function rotate(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const silenceMs = parseDuration('--silence', options['silence']);
  const rotation = {
    overlapSeconds: parseOverlap(options) / 1000,
    silenceSeconds: silenceMs === undefined ? undefined : silenceMs / 1000,
    keyIDPrefix: stringOption(options, 'prefix'),
  };
  const wait = waitFrom(io, options);
  const changeOptions = changeOptionsFrom(options);
  const proposer = proposerFrom(io, options);
  return runKeyCommand({ io, command: 'keys rotate', options, args }, async (context) => {
    const { keys, gateways, format, keyID } = context;
    if (proposer) return proposer.propose(context, keyID, { kind: 'ROTATE', content: rotation }, null);
    await wait.prepare(gateways, keyID);
    const rotated = await keys.rotate(keyID, { ...rotation, ...changeOptions });
    const { keyID: key, retiresAt } = rotated;
    if (format.isJSON) {
      const retirement = { retires_at: retiresAt ?? null };
      io.stdout(`${toJSONLine({ action: 'rotated', key, ...retirement, ...changeResultToJSON(rotated, null) })}\n`);
    } else {
      const end = retiresAt === undefined ? 'is rejected' : `is accepted until ${retiresAt}`;
      io.stdout(`${key}\n`);
      io.stderr(`Rotated (version ${rotated.version}). The old identifier ${end}.\n`);
    }
    return wait.finish(gateways, key);
  });
}

export const cancelRotationCommand = changeCommand({
  name: 'keys cancel-rotation',
  alias: 'cancel-rotation',
  summary: 'Cancel a rotation: the old identifier stays, and the new one is rejected',
  description: 'Possible until the old identifier is rejected. KEY_ID is either of both.',
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys cancel-rotation acme-billing',
  action: 'rotation_canceled',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return {
      make: async (keys, keyID) => keys.cancelRotation(keyID, changeOptions),
      proposed: { kind: 'CANCEL_ROTATION', content: {} },
    };
  },
});

export const revertCommand = changeCommand({
  name: 'keys revert',
  alias: 'revert',
  summary: 'Revert a key to an earlier version by creating a new version',
  description: 'Secrets and the live quota stay unchanged.',
  options: {
    to: { value: 'VERSION', description: 'Version whose definition is restored', isRequired: true },
    'expected-version': expectedVersionOption,
  },
  example: 'keyfront keys revert acme-billing --to 2',
  action: 'modified',
  changeFrom: (options) => {
    const toVersion = parseNumberOption(options, 'to') ?? 0;
    const changeOptions = changeOptionsFrom(options);
    return {
      make: async (keys, keyID) => keys.revert(keyID, toVersion, changeOptions),
      proposed: { kind: 'REVERT', content: { toVersion } },
    };
  },
});

export const resetCommand = changeCommand({
  name: 'keys reset',
  alias: 'reset',
  summary: 'Reset the live quota of a key',
  description: 'The definition stays unchanged.',
  example: 'keyfront keys reset acme-billing --reason "paid in advance"',
  action: 'modified',
  changeFrom: (options) => {
    const reason = stringOption(options, 'reason');
    return {
      make: async (keys, keyID) => keys.patch(keyID, {}, { resetQuota: true, reason }),
      proposed: { kind: 'PATCH', patch: {}, resetQuota: true },
    };
  },
});
