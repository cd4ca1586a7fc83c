import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { until } from './until.js';

// Gateways that admit the keys of a file, with the files of docs/deploy/gateway and the commands of docs/deliver-keys.md.

const docs = new URL('../../docs/', import.meta.url);

interface Kind {
  readonly program: string;
  /** The file of docs/deploy/gateway. */
  readonly file: string;
  readonly listen: readonly [string, (port: number) => string];
  /** The configuration around the file, and what stands before it. */
  readonly around: (folder: string, file: string) => string;
  readonly args: (folder: string) => readonly string[];
  /** The programs that the command calls, as scripts by their names. */
  readonly scripts: (folder: string) => Readonly<Record<string, string>>;
}

const kinds = {
  nginx: {
    program: 'nginx',
    file: 'nginx-keys.conf',
    listen: ['listen 80;', (port) => `listen 127.0.0.1:${port};`],
    around: (folder, file) => {
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
        .join(' ');
      return `daemon off; pid ${folder}/pid; events {} http { access_log off; ${folders} ${file} }`;
    },
    args: (folder) => ['-c', join(folder, 'gateway.conf'), '-e', join(folder, 'gateway.log')],
    scripts: (folder) => ({
      nginx: `exec /usr/sbin/nginx -c ${folder}/gateway.conf -e ${folder}/gateway.log "$@"`,
    }),
  },
  haproxy: {
    program: 'haproxy',
    file: 'haproxy-keys.cfg',
    listen: ['bind :80', (port) => `bind 127.0.0.1:${port}`],
    around: (_, file) => file,
    args: (folder) => ['-Ws', '-f', join(folder, 'gateway.conf'), '-p', join(folder, 'pid')],
    // The two commands of ExecReload in the unit of Debian.
    scripts: (folder) => ({
      systemctl: `[ "$*" = "reload haproxy" ] && /usr/sbin/haproxy -Ws -f ${folder}/gateway.conf -c -q && kill -USR2 "$(cat ${folder}/pid)"`,
    }),
  },
} as const satisfies Record<string, Kind>;

export type FileGatewayName = keyof typeof kinds;
export const fileGatewayNames: readonly FileGatewayName[] = ['nginx', 'haproxy'];

export interface FileGateway {
  /** The file with the keys. */
  readonly map: string;
  /** The options of `keyfront deliver file` in docs/deliver-keys.md. */
  readonly deliverArgs: readonly string[];
  /** The PATH of the adapter. */
  readonly path: string;
  /** Starts it, as its unit does, unless it runs. The file exists. */
  readonly start: () => void;
  /** Sends SIGKILL to its main process or to a worker, then to all that is left of it, as systemd does. */
  readonly kill: (whom: 'main process' | 'worker') => Promise<void>;
  /** The organization for which it admits a key; undefined if it rejects the key. @throws if it does not respond. */
  readonly admitted: (keyID: string, headers?: Readonly<Record<string, string>>) => Promise<string | undefined>;
  readonly remove: () => Promise<void>;
}

/** Prepares a gateway in a folder, with an upstream that responds with the organization. */
export async function makeFileGateway(name: FileGatewayName, folder: string): Promise<FileGateway> {
  const kind: Kind = kinds[name];
  const port = await freePort();
  const upstream = createServer(({ headers }, response) => {
    response.end(JSON.stringify({ org: headers['x-key-org'], key: headers['x-api-key'] }));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const map = join(folder, 'keys.map');
  const [command, template, mapOfDocs] = await exampleOf(name);
  let text = await readFile(new URL(`deploy/gateway/${kind.file}`, docs), 'utf8');
  for (const [old, next] of [
    [kind.listen[0], kind.listen[1](port)],
    ['127.0.0.1:8080', `127.0.0.1:${(upstream.address() as AddressInfo).port}`],
    [mapOfDocs, map],
  ] as const) {
    if (!text.includes(old)) throw new Error(`${kind.file} does not have ${old}.`);
    text = text.replaceAll(old, next);
  }
  await writeFile(join(folder, 'gateway.conf'), kind.around(folder, text));
  await writeFile(join(folder, 'line.txt'), `${template}\n`);
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const [script, body] of Object.entries(kind.scripts(folder))) {
    await writeFile(join(bin, script), `#!/bin/sh\n${body}\n`);
    await chmod(join(bin, script), 0o755);
  }
  let main: ChildProcess | undefined;
  const env = { PATH: `${process.env['PATH']}:/usr/sbin` };

  const isOver = () => !main || main.exitCode !== null || main.signalCode !== null;
  return {
    map,
    deliverArgs: [map, '--template', join(folder, 'line.txt'), '--run', command],
    path: `${bin}:${env.PATH}`,
    start: () => {
      if (!isOver()) return;
      // In a process group of its own, which stands for the control group of a unit.
      main = spawn(kind.program, kind.args(folder), { env, stdio: 'ignore', detached: true });
    },
    kill: async (whom) => {
      if (!main || isOver()) return;
      const group = main.pid ?? 0;
      const over = once(main, 'exit');
      const [worker] = workersOf(group);
      if (whom === 'worker' && worker !== undefined) {
        process.kill(worker, 'SIGKILL');
        // nginx starts another worker. HAProxy ends, and its unit starts it again.
        await until(() => isOver() || workersOf(group).some((pid) => pid !== worker), 'The end of a worker');
        if (!isOver() && name === 'nginx') return;
      }
      main.kill('SIGKILL');
      if (!isOver()) await over;
      await until(() => !signalGroup(group), 'The end of all its processes');
    },
    admitted: async (keyID, headers = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        headers: { 'x-api-key': keyID, ...headers },
        signal: AbortSignal.timeout(5_000),
      });
      const body = await response.text();
      if (response.status === 401) return undefined;
      if (response.status !== 200) throw new Error(`${name} responded with ${response.status}.`);
      const { org, key } = JSON.parse(body) as { org?: string; key?: string };
      if (key !== undefined) throw new Error('The upstream has received the key.');
      return org;
    },
    remove: async () => {
      const group = main?.pid;
      if (main && !isOver()) {
        main.kill('SIGKILL');
        await once(main, 'exit');
      }
      if (group !== undefined) await until(() => !signalGroup(group), 'The end of all its processes');
      upstream.close();
      upstream.closeAllConnections();
    },
  };
}

/** Sends SIGKILL to a process group. Returns whether there was one. */
function signalGroup(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch {
    return false;
  }
}

function workersOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The command, the template and the file in the example of docs/deliver-keys.md. */
async function exampleOf(name: FileGatewayName): Promise<readonly [string, string, string]> {
  const text = await readFile(new URL('deliver-keys.md', docs), 'utf8');
  const pattern =
    /^echo '(?<template>.+)' > line\.txt\nKEYFRONT_SERVICE_CREDENTIAL=… keyfront deliver file (?<map>\S+) .*\n.*--run '(?<command>.+)'$/gm;
  for (const { groups } of text.matchAll(pattern)) {
    const { command = '', template = '', map = '' } = groups ?? {};
    if (command.includes(name)) return [command, template, map];
  }
  throw new Error(`docs/deliver-keys.md has no example for ${name}.`);
}
