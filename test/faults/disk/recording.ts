import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** One thing that a process did to its disk, as `disk.c` wrote it down. */
export type DiskOperation =
  | { readonly kind: 'write'; readonly inode: bigint; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly inode: bigint; readonly length: number }
  | { readonly kind: 'sync'; readonly inode: bigint }
  | { readonly kind: 'create'; readonly inode: bigint; readonly name: string }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'syncFolder' }
  /** Output that others can read from here on: the beginning of an HTTP response or of printed text. */
  | { readonly kind: 'response'; readonly text: string };

const headBytes = 24;

/** Reads a recording in the order in which things were done. One that was cut off by a kill is read up to there. */
export function readRecording(file: string): DiskOperation[] {
  const bytes = readFileSync(file);
  const steps: DiskOperation[] = [];
  for (let at = 0; at + headBytes <= bytes.length;) {
    const inode = bytes.readBigUInt64LE(at);
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    const length = bytes.readUInt32LE(at + 16);
    const kind = String.fromCharCode(bytes.readUInt8(at + 20));
    const end = at + headBytes + length;
    if (end > bytes.length) break;
    steps.push(diskOperationOf(kind, inode, offset, bytes.subarray(at + headBytes, end)));
    at = end;
  }
  return steps;
}

function diskOperationOf(kind: string, inode: bigint, offset: number, bytes: Buffer): DiskOperation {
  const [first = '', second = ''] = bytes.toString('utf8', 0, kind === 'W' ? 0 : bytes.length).split('\0');
  const [name, to] = [basename(first), basename(second)];
  switch (kind) {
    case 'W':
      return { kind: 'write', inode, offset, bytes };
    case 'T':
      return { kind: 'truncate', inode, length: offset };
    case 'S':
      return { kind: 'sync', inode };
    case 'D':
      return { kind: 'syncFolder' };
    case 'C':
      return { kind: 'create', inode, name };
    case 'R':
      return { kind: 'rename', from: name, to };
    case 'L':
      return { kind: 'link', from: name, to };
    case 'U':
      return { kind: 'unlink', name };
    case 'A':
      return { kind: 'response', text: bytes.toString('latin1') };
    default:
      throw new Error(`The recording has a step of the unknown kind ${kind}.`);
  }
}
