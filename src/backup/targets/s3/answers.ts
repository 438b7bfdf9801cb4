/** Reads the XML of a bucket. The server is not trusted: what is malformed is an error, names that are not ours are left out. */
import { all, parseXml, textAt, type XmlElement } from '../../../protocols/aws/xml.ts';
import { isFileName, TargetError, type TargetFile } from '../../target.ts';

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** Parameters of the request for the next page; undefined when this is the last one. */
  readonly next: Readonly<Record<string, string>> | undefined;
}

export interface Upload {
  readonly name: string;
  readonly id: string;
  readonly startedAt: number;
}

/** Reads a page of ListObjectsV2. */
export function readFiles(text: string, prefix: string): Page<TargetFile> {
  const root = rootOf(text, 'ListBucketResult');
  const entries = all(root, 'Contents').flatMap((entry) => {
    const name = nameOf(entry, prefix);
    if (name === undefined) return [];
    const bytes = Number(textAt(entry, 'Size'));
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw malformed(`the size of ${name} is no number`);
    return [{ name, bytes, modified: timeOf(entry, 'LastModified') }];
  });
  return { entries, next: nextOf(root, { 'continuation-token': 'NextContinuationToken' }) };
}

/** Reads a page of ListMultipartUploads. */
export function readUploads(text: string, prefix: string): Page<Upload> {
  const root = rootOf(text, 'ListMultipartUploadsResult');
  const entries = all(root, 'Upload').flatMap((entry) => {
    const name = nameOf(entry, prefix);
    const id = textAt(entry, 'UploadId');
    return name === undefined || !id ? [] : [{ name, id, startedAt: timeOf(entry, 'Initiated') }];
  });
  const markers = { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' };
  return { entries, next: nextOf(root, markers) };
}

export function readUploadId(text: string): string {
  const id = textAt(rootOf(text, 'InitiateMultipartUploadResult'), 'UploadId');
  if (!id) throw malformed('an upload has no ID');
  return id;
}

function rootOf(text: string, name: string): XmlElement {
  let root: XmlElement;
  try {
    root = parseXml(text);
  } catch (cause) {
    throw malformed((cause as Error).message, cause);
  }
  if (root.name !== name) throw malformed(`expected ${name}, found ${root.name.slice(0, 100)}`);
  return root;
}

/** Returns the name of a file directly below the prefix. */
function nameOf(entry: XmlElement, prefix: string): string | undefined {
  const key = textAt(entry, 'Key') ?? '';
  const name = key.slice(prefix.length);
  return key.startsWith(prefix) && isFileName(name) ? name : undefined;
}

function timeOf(entry: XmlElement, field: string): number {
  const time = Date.parse(textAt(entry, field) ?? '');
  if (Number.isNaN(time)) throw malformed(`${field} is no time`);
  return time;
}

function nextOf(root: XmlElement, fields: Readonly<Record<string, string>>): Page<never>['next'] {
  if (textAt(root, 'IsTruncated') !== 'true') return undefined;
  const next: Record<string, string> = {};
  for (const [parameter, field] of Object.entries(fields)) {
    const value = textAt(root, field);
    if (value) next[parameter] = value;
  }
  if (Object.keys(next).length === 0) throw malformed('a list is truncated, and does not say where it goes on');
  return next;
}

export function malformed(what: string, cause?: unknown): TargetError {
  return new TargetError('Unavailable', `the S3 server sent a malformed answer: ${what}`, { cause });
}
