import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';

interface Port {
  readonly number: number;
  readonly name?: string;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
}

/** The variables that the kubelet injects for one Service, as `pkg/kubelet/envvars/envvars.go` of Kubernetes builds them. */
function kubeletVariables(service: string, address: string, ports: readonly Port[]): Record<string, string> {
  const variableName = (text: string) => text.replaceAll(/[-.]/g, '_').toUpperCase();
  const prefix = variableName(service);
  const hostPort = (port: Port) => `${address.includes(':') ? `[${address}]` : address}:${port.number}`;
  const protocolOf = ({ protocol = 'TCP' }: Port) => protocol.toLowerCase();
  const [first] = ports;
  const env: Record<string, string> = {
    [`${prefix}_SERVICE_HOST`]: address,
    [`${prefix}_SERVICE_PORT`]: String(first?.number),
  };
  for (const port of ports) {
    if (port.name !== undefined) env[`${prefix}_SERVICE_PORT_${variableName(port.name)}`] = String(port.number);
  }
  if (first) env[`${prefix}_PORT`] = `${protocolOf(first)}://${hostPort(first)}`;
  for (const port of ports) {
    const link = `${prefix}_PORT_${port.number}_${port.protocol ?? 'TCP'}`;
    env[link] = `${protocolOf(port)}://${hostPort(port)}`;
    env[`${link}_PROTO`] = protocolOf(port);
    env[`${link}_PORT`] = String(port.number);
    env[`${link}_ADDR`] = address;
  }
  return env;
}

const own = { KEYFRONT_DATA: '/data', KEYFRONT_SERVICE_CREDENTIAL: 'kf_svc_x' };
const expected = readConfig(own).config;

describe('the variables that Kubernetes injects for a Service', () => {
  it.each<[string, Record<string, string>]>([
    ['named keyfront with one port', kubeletVariables('keyfront', '10.96.0.10', [{ number: 4000 }])],
    [
      'named keyfront with several named ports',
      kubeletVariables('keyfront', '10.96.0.10', [
        { number: 80, name: 'http' },
        { number: 9464, name: 'prom-metrics' },
        { number: 53, name: 'dns.udp', protocol: 'UDP' },
        { number: 99, name: 'sctp', protocol: 'SCTP' },
      ]),
    ],
    ['with an IPv6 address', kubeletVariables('keyfront', 'fd00:10:96::a', [{ number: 4000, name: 'http' }])],
    [
      'of the same chart, one of which injects KEYFRONT_METRICS_PORT',
      {
        ...kubeletVariables('keyfront', '10.96.0.10', [{ number: 4000, name: 'http' }]),
        ...kubeletVariables('keyfront-metrics', '10.96.0.11', [{ number: 9464, name: 'metrics' }]),
        ...kubeletVariables('keyfront-redis-master', '10.96.0.12', [{ number: 6379 }]),
      },
    ],
  ])('are ignored for Services %s', (_title, injected) => {
    expect(readConfig({ ...injected, ...own }).config).toEqual(expected);
  });

  it('do not replace a setting of the pod', () => {
    const injected = kubeletVariables('keyfront-metrics', '10.96.0.11', [{ number: 9464 }]);
    const { metrics } = readConfig({ ...injected, ...own, KEYFRONT_METRICS_PORT: '9464' }).config;
    expect(metrics).toEqual({ host: '127.0.0.1', port: 9464 });
  });

  it.each<[string, string, string]>([
    ['a name that the kubelet does not build', 'KEYFRONT_SERVICE_PROTO', 'tcp'],
    ['a number where the kubelet writes a URL', 'KEYFRONT_PORT', '4000'],
    ['a text where the kubelet writes a number', 'KEYFRONT_SERVICE_PORT_HTTP', 'http'],
    ['an unknown protocol', 'KEYFRONT_PORT_4000_QUIC', 'quic://10.96.0.10:4000'],
    ['another prefix', 'KEYFRONT_OTHER_PORT_4000_TCP_PORT', '4000'],
  ])('do not hide an invalid setting %s: rejects %s=%s', (_title, name, value) => {
    const injected = kubeletVariables('keyfront', '10.96.0.10', [{ number: 4000 }]);
    expect(() => readConfig({ ...injected, ...own, [name]: value })).toThrow(`${name} is not a setting`);
  });

  it.each(['KEYFRONT_SERVICE_HOST', 'KEYFRONT_SERVICE_PORT'])(
    'are ignored only with both of their anchors, not with %s alone',
    (name) => {
      const injected = kubeletVariables('keyfront', '10.96.0.10', [{ number: 4000 }]);
      expect(() => readConfig({ ...own, [name]: injected[name] })).toThrow(`${name} is not a setting`);
    },
  );
});

describe('an unknown KEYFRONT_ variable', () => {
  it('gets no suggestion that only shares the prefix', () => {
    expect(() => readConfig({ KEYFRONT_BOGUS: 'x' })).toThrow(
      'KEYFRONT_BOGUS is not a setting. `keyfront serve --help` lists the settings.',
    );
  });

  it.each([
    ['KEYFRONT_PORT', '4000', 'PORT'],
    ['KEYFRONT_HOST', '0.0.0.0', 'HOST'],
    ['KEYFRONT_LOG_LEVEL', 'debug', 'LOG_LEVEL'],
    ['KEYFRONT_LOGLEVEL', 'debug', 'LOG_LEVEL'],
    ['KEYFRONT_NODE_ENV', 'production', 'NODE_ENV'],
    ['KEYFRONT_DATABASE', 'x', 'KEYFRONT_DATABASE_URL'],
    ['KEYFRONT_METRIC_PORT', '9464', 'KEYFRONT_METRICS_PORT'],
  ])('is rejected, with a suggestion: %s=%s and %s', (name, value, suggested) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      `Invalid configuration:\n  ${name} is not a setting; did you mean ${suggested}?`,
    );
  });
});
