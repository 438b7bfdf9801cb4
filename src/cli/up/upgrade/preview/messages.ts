/**
 * The protocol between the release that previews an upgrade and the one that it starts, which may be of different versions: the
 * copy of the store on standard input, one line for the header and one for each row, and the result as JSON on a descriptor.
 * A field that a later release adds must be optional.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { parseRowLine, rowLine } from '../../../../store/memory/image-file.ts';
import type { StoreImage } from '../../../../store/memory/memory-store.ts';
import { CliError } from '../../../output/cli-error.ts';
import type { ObjectChange } from './changes.ts';

/** In place of the path of a package: the copy comes on standard input. */
export const FROM_INPUT = '-';

/** The descriptor that the result is written to. */
export const RESULT_DESCRIPTOR = 3;

const FORMAT = 1;

export interface CopyHeader {
  /** The data directory of the cluster, which is only read. */
  readonly directory: string;
  /** A private directory for keys and certificates, which the receiver of the result removes. */
  readonly scratch: string;
  /** The flags of the cluster's last start. */
  readonly args: readonly string[];
  /** A free port of loopback. */
  readonly port: number;
  /** How long controllers run. */
  readonly milliseconds: number;
}

/** The result of a release that ran on a copy of a store. */
export interface CopyResult {
  readonly version: string;
  readonly level: number;
  /** The errors of flags of the last start. */
  readonly rejectedFlags: readonly string[];
  /** Why it did not become ready; undefined: it did. */
  readonly problem?: string | undefined;
  readonly secondsToReady?: number | undefined;
  /** The first of the objects that it cannot show. */
  readonly unreadable: readonly UnreadableObject[];
  readonly unreadableCount: number;
  readonly otherVersions: readonly OtherVersion[];
  /** The kinds that it serves, as `apps/v1 Deployment`. */
  readonly apis: readonly string[];
  readonly changes: readonly ObjectChange[];
  /** Number of further changes. */
  readonly moreChanges: number;
  /** What was not asked because it is outside: names of configurations and APIServices. */
  readonly notCalled: readonly string[];
}

/** The findings of a release that has found nothing, or did not get so far. */
export const NO_FINDINGS: Omit<CopyResult, 'version' | 'level'> = {
  rejectedFlags: [],
  unreadable: [],
  unreadableCount: 0,
  otherVersions: [],
  apis: [],
  changes: [],
  moreChanges: 0,
  notCalled: [],
};

export interface UnreadableObject {
  readonly key: string;
  readonly reason: string;
}

/** Objects that the next write to them stores in another version. */
export interface OtherVersion {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** Writes a copy, as fast as it is read. */
export async function sendCopy(target: Writable, header: CopyHeader, { revision, rows }: StoreImage): Promise<void> {
  const write = (line: string) =>
    new Promise<void>((resolve, reject) => {
      target.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
    });
  await write(JSON.stringify({ format: FORMAT, revision, rows: rows.length, ...header }));
  for (const row of rows) await write(rowLine(row));
  target.end();
}

export interface ReceivedCopy {
  readonly header: CopyHeader;
  readonly image: StoreImage;
}

export async function receiveCopy(source: Readable): Promise<ReceivedCopy> {
  let first: (CopyHeader & { readonly format: number; readonly revision: number; readonly rows: number }) | undefined;
  const rows = [];
  for await (const line of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (!first) {
      first = headerIn(line);
      continue;
    }
    const row = parseRowLine(line);
    if (!row) throw new CliError(`the copy of the store is damaged: line ${rows.length + 2} cannot be read`);
    rows.push(row);
  }
  if (!first || rows.length !== first.rows) {
    throw new CliError(`the copy of the store is damaged: it has ${rows.length} of ${first?.rows ?? 'unknown'} rows`);
  }
  return { header: first, image: { revision: first.revision, rows } };
}

function headerIn(line: string) {
  let header: { readonly format?: number };
  try {
    header = JSON.parse(line);
  } catch (cause) {
    throw new CliError('standard input has no copy of a store: qd upgrade FILE --preview sends one', { cause });
  }
  if (header?.format === FORMAT) return header as CopyHeader & { format: number; revision: number; rows: number };
  throw new CliError(`the copy of the store has format ${header?.format}, and this release reads format ${FORMAT}`);
}
