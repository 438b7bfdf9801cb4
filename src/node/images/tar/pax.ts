/** Records of PAX headers: `LENGTH KEY=VALUE\n`, where the length counts the whole record. */
import { TarError } from './entry.ts';

export type PaxRecords = ReadonlyMap<string, string>;

/** The records that are used. Others are left out: an archive of a few megabytes can have gigabytes of them. */
const KNOWN: ReadonlySet<string> = new Set(['path', 'linkpath', 'size', 'uid', 'gid', 'mtime', 'GNU.sparse.major']);

export function decodePax(body: Buffer): PaxRecords {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(' ', at);
    const length = space < 0 ? Number.NaN : Number(body.toString('latin1', at, space));
    const end = at + length;
    if (!Number.isInteger(length) || end > body.length || end <= space + 1) {
      throw new TarError('an extended header of the tar archive is damaged');
    }
    const record = body.toString('utf8', space + 1, end - 1);
    const equals = record.indexOf('=');
    const key = record.slice(0, Math.max(0, equals));
    if (KNOWN.has(key)) records.set(key, record.slice(equals + 1));
    at = end;
  }
  return records;
}

export function encodePax(records: PaxRecords): Buffer {
  return Buffer.concat([...records].map(([key, value]) => encodeRecord(key, value)));
}

function encodeRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  // The length counts its own digits, too.
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
