import type { Random } from '../../base/random.ts';

/** A key that values are encrypted with. */
export interface Key {
  /** What stands in front of a value that it encrypted. */
  readonly id: string;
  readonly secret: Buffer;
}

/** The first key encrypts; every one decrypts. */
export type Keyring = readonly [Key, ...Key[]];

const ID_BYTES = 4;
const SECRET_BYTES = 32;
const LINE = /^([0-9a-f]{8}) ([A-Za-z0-9+/]{43}=)$/;

export function newKey(random: Random): Key {
  return { id: random.bytes(ID_BYTES).toString('hex'), secret: random.bytes(SECRET_BYTES) };
}

/** One key a line, the newest first: its name and, in base64, its 32 bytes. */
export function formatKeyring(keys: Keyring): string {
  return keys.map(({ id, secret }) => `${id} ${secret.toString('base64')}\n`).join('');
}

/** Undefined for a text that is no key file: nothing of it may be shown. */
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
