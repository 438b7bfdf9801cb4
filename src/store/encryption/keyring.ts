import type { Random } from '../../base/random.ts';

/** An encryption key for values. */
export interface Key {
  /** Stored with every value that the key encrypted. */
  readonly id: string;
  readonly secret: Buffer;
}

/** The first key encrypts; all of them decrypt. */
export type Keyring = readonly [Key, ...Key[]];

const ID_BYTES = 4;
const SECRET_BYTES = 32;
const LINE = /^([0-9a-f]{8}) ([A-Za-z0-9+/]{43}=)$/;

export function newKey(random: Random): Key {
  return { id: random.bytes(ID_BYTES).toString('hex'), secret: random.bytes(SECRET_BYTES) };
}

/** Formats one key per line, the newest first: its id, and its 32 bytes in base64. */
export function formatKeyring(keys: Keyring): string {
  return keys.map(({ id, secret }) => `${id} ${secret.toString('base64')}\n`).join('');
}

/** Parses a key file. Returns undefined when the text is not one; no error quotes it. */
export function parseKeyring(text: string): Keyring | undefined {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const keys = lines.map((line) => LINE.exec(line)).map((match) => match && keyOf(match));
  const [first, ...rest] = keys;
  if (!first || !rest.every((key) => key !== null)) return undefined;
  return new Set(keys.map((key) => key?.id)).size === keys.length ? [first, ...rest] : undefined;
}

function keyOf([, id = '', secret = '']: RegExpExecArray): Key {
  return { id, secret: Buffer.from(secret, 'base64') };
}
