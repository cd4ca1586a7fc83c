import type { CLICommand, OptionValues } from './command.js';
import { UsageError, type IO } from './io.js';

/** Creates the command that prints a completion script. `commands` is a function: its list contains this command. */
export function createCompletionCommand(commands: () => readonly CLICommand[]): CLICommand {
  return {
    name: 'completion',
    summary: 'Print a script that completes commands and options in a shell',
    arguments: ['bash|zsh|fish'],
    examples: [
      'keyfront completion bash > ~/.local/share/bash-completion/completions/keyfront',
      'keyfront completion zsh > "${fpath[1]}/_keyfront"',
      'keyfront completion fish > ~/.config/fish/completions/keyfront.fish',
    ],
    environment: [],
    run: (io: IO, _options: OptionValues, [shell = '']: readonly string[]) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (!script) throw new UsageError(`Specify one of ${Object.keys(scripts).join(', ')}.`);
      io.stdout(script(commands()));
      return Promise.resolve(0);
    },
  };
}

const optionsOf = ({ options = {} }: CLICommand): string[] =>
  [...Object.keys(options), 'help'].map((name) => `--${name}`);

/** The distinct first words of the commands, and the second words by first word. */
function wordsOf(commands: readonly CLICommand[]) {
  const names = commands.map(({ name }) => name.split(' '));
  const first = [...new Set(names.map(([word = '']) => word))];
  const second = new Map(first.map((word) => [word, names.flatMap(([a, b]) => (a === word && b ? [b] : []))]));
  return { first, second: [...second].filter(([, words]) => words.length > 0) };
}

/** The `case` of bash and zsh that sets `candidates` by the words before the current one. Options need a hyphen. */
function casesOf(commands: readonly CLICommand[]): string {
  const { first, second } = wordsOf(commands);
  return [
    `    '') candidates='${first.join(' ')} --help --version' ;;`,
    ...second.map(([word, words]) => `    '${word}') candidates='${words.join(' ')}' ;;`),
    ...commands.map(
      (command) => `    '${command.name}'*) [[ $current == -* ]] && candidates='${optionsOf(command).join(' ')}' ;;`,
    ),
  ].join('\n');
}

const scripts: Readonly<Record<string, (commands: readonly CLICommand[]) => string>> = {
  bash: (commands) => `_keyfront() {
  local current="\${COMP_WORDS[COMP_CWORD]}" candidates=''
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${casesOf(commands)}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _keyfront keyfront
`,
  zsh: (commands) => `#compdef keyfront
_keyfront() {
  local current="\${words[CURRENT]}" candidates=''
  case "\${(j: :)words[2,CURRENT-1]}" in
${casesOf(commands)}
  esac
  if [[ -n $candidates ]]; then compadd -- \${=candidates}; else _files; fi
}
compdef _keyfront keyfront
`,
  fish: (commands) => {
    const { first, second } = wordsOf(commands);
    const lines = [
      `complete -c keyfront -n __fish_use_subcommand -f -a '${first.join(' ')}'`,
      ...second.map(
        ([word, words]) =>
          `complete -c keyfront -n '__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${words.join(' ')}' -f -a '${words.join(' ')}'`,
      ),
      ...commands.flatMap((command) =>
        Object.entries(command.options ?? {}).map(
          ([option, { value }]) =>
            `complete -c keyfront -n '${command.name
              .split(' ')
              .map((word) => `__fish_seen_subcommand_from ${word}`)
              .join('; and ')}' -l ${option}${value === undefined ? '' : ' -r'}`,
        ),
      ),
    ];
    return `${lines.join('\n')}\n`;
  },
};
