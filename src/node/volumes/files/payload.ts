/** The files of a volume, as plain values. */

export interface PayloadFile {
  readonly data: Buffer;
  readonly mode: number;
  /** Owner of the file; undefined: the agent's user. */
  readonly owner?: number;
}

/** Files by path, relative to the volume. */
export type Payload = Map<string, PayloadFile>;

interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface KeyedFiles {
  readonly items: readonly KeyToPath[] | undefined;
  readonly defaultMode: number;
  readonly optional: boolean;
}

export interface ConfigMapLike {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface SecretLike {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

export function configMapPayload({ data = {}, binaryData = {} }: ConfigMapLike, files: KeyedFiles): Payload {
  const contents = new Map<string, Buffer>();
  for (const [key, text] of Object.entries(data)) contents.set(key, Buffer.from(text));
  for (const [key, text] of Object.entries(binaryData)) contents.set(key, Buffer.from(text, 'base64'));
  return keyedPayload(contents, files, (key) => `configmap references non-existent config key: ${key}`);
}

export function secretPayload({ data = {} }: SecretLike, files: KeyedFiles): Payload {
  const contents = new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
  return keyedPayload(contents, files, (key) => `references non-existent secret key: ${key}`);
}

function keyedPayload(
  contents: ReadonlyMap<string, Buffer>,
  { items, defaultMode, optional }: KeyedFiles,
  missing: (key: string) => string,
): Payload {
  if (!items?.length) return new Map([...contents].map(([key, data]) => [key, { data, mode: defaultMode }]));
  const payload: Payload = new Map();
  for (const { key, path, mode = defaultMode } of items) {
    const data = contents.get(key);
    if (data) payload.set(path, { data, mode });
    else if (!optional) throw new PayloadError(missing(key));
  }
  return payload;
}
