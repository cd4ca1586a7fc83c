import { isIP } from 'node:net';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

const isURL = (value: string) => /^(tcp|udp|sctp):\/\/\S+:\d+$/.test(value);
const isNumber = (value: string) => /^\d+$/.test(value);

/** The form of each variable of a Service, by its name without the prefix. */
const serviceVariables: readonly (readonly [name: RegExp, isExpected: (value: string) => boolean])[] = [
  [/^_SERVICE_HOST$/, (value) => isIP(value) !== 0],
  [/^_SERVICE_PORT(_[A-Z0-9_]+)?$/, isNumber],
  [/^_PORT$/, isURL],
  [/^_PORT_\d+_(TCP|UDP|SCTP)$/, isURL],
  [/^_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, (value) => /^(tcp|udp|sctp)$/.test(value)],
  [/^_PORT_\d+_(TCP|UDP|SCTP)_PORT$/, isNumber],
  [/^_PORT_\d+_(TCP|UDP|SCTP)_ADDR$/, (value) => isIP(value) !== 0],
];

/**
 * Removes the variables that Kubernetes injects for each Service of the namespace whose name begins with `keyfront`
 * (`enableServiceLinks`). Name and value must match, so that a misspelt setting is still reported. The kubelet always
 * sets `_SERVICE_HOST` and `_SERVICE_PORT` of a Service.
 *
 * @see https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/envvars/envvars.go
 */
export function withoutServiceLinks(env: Environment): Environment {
  const names = Object.keys(env).filter((name) => name.startsWith('KEYFRONT_'));
  const hasValue = (name: string, isExpected: (value: string) => boolean) => isExpected(env[name] ?? '');
  const prefixes = names
    .filter((name) => name.endsWith('_SERVICE_HOST'))
    .map((name) => name.slice(0, -'_SERVICE_HOST'.length))
    .filter((prefix) => hasValue(`${prefix}_SERVICE_HOST`, (value) => isIP(value) !== 0))
    .filter((prefix) => hasValue(`${prefix}_SERVICE_PORT`, isNumber));

  const isInjected = (name: string) =>
    prefixes.some(
      (prefix) =>
        name.startsWith(prefix) &&
        serviceVariables.some(
          ([pattern, isExpected]) => pattern.test(name.slice(prefix.length)) && hasValue(name, isExpected),
        ),
    );
  const injected = new Set(names.filter(isInjected));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !injected.has(name)));
}
