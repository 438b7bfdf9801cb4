import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { put } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong } from '../../../../schema/field-error.ts';
import { configMapKey } from '../../../../schema/names.ts';
import { keys, matches } from '../../../../schema/rules.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { age, name } from '../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { decodedSize, frozenOnceImmutable, MAX_DATA_BYTES, MAX_DATA_KEYS } from './config-map.ts';

const BEGIN = /-----BEGIN [A-Z0-9 ]+-----/;

/** Annotation with the service account that a token secret belongs to. */
const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const SERVICE_ACCOUNT_UID = 'kubernetes.io/service-account.uid';

const fields = {
  data: s.map(
    s.bytes(),
    "Values by key, encoded in base64. Keys consist of letters, digits, '-', '_' and '.'. All values " +
      'together may have 1 MiB.',
    { maxItems: MAX_DATA_KEYS, rules: [keys(matches(configMapKey))] },
  ),
  stringData: s.map(
    s.string(),
    'Values by key as plain text, for convenience. Write-only: the server merges them into data, where they ' +
      'replace existing keys, and does not return them.',
    { maxItems: MAX_DATA_KEYS },
  ),
  type: s.string(
    'Type of the secret, such as kubernetes.io/tls; some types require certain keys. Defaults to Opaque, ' +
      'which requires none. Cannot be changed.',
    { default: 'Opaque', immutable: true },
  ),
  immutable: s.boolean(
    'If true, the data can no longer be changed and the field cannot be reset; the object can only be ' +
      'deleted. Defaults to false.',
  ),
};

export type Secret = KubeObject & ObjectType<typeof fields>;

/** Passwords, keys and tokens. */
export const Secret = defineKind({
  kind: 'Secret',
  scope: 'Namespaced',
  description:
    'Sensitive data such as passwords, keys and tokens that pods use as files or environment variables. ' +
    'Running pods do not see changes.',
  versions: { v1: {} },
  confidential: true,
  fields,
  selectable: { type: (secret: Secret) => secret.type },
  onCreate: moveStrings,
  onUpdate: moveStrings,
  exportProblem: tokenProblem,
  rules: [frozenOnceImmutable('data'), size, contentOfType],
  warnings: secretWarnings,
  columns: ({ text }) => [
    name,
    text('Type', 'Type of the secret.', ({ type }) => type ?? ''),
    text('Data', 'Number of keys in data.', ({ data = {} }) => Object.keys(data).length),
    age,
  ],
});

/** Moves stringData into data, where it overrides values with the same key. */
function moveStrings(secret: Secret): void {
  if (!secret.stringData) return;
  const data = { ...secret.data };
  for (const [key, text] of Object.entries(secret.stringData)) put(data, key, Buffer.from(text).toString('base64'));
  secret.data = data;
  delete secret.stringData;
}

/** The token of an account belongs to this cluster alone. */
function tokenProblem({ type, metadata }: Secret, exact: boolean): string | undefined {
  const isToken = type === 'kubernetes.io/service-account-token' || metadata.annotations?.[SERVICE_ACCOUNT_UID];
  return isToken && !exact ? "can't export service account secrets" : undefined;
}

function size({ data = {} }: Secret): FieldError[] {
  return decodedSize(data) > MAX_DATA_BYTES ? [tooLong('data', MAX_DATA_BYTES)] : [];
}

function contentOfType({ type, data = {}, metadata }: Secret): FieldError[] {
  const has = (key: string) => Object.hasOwn(data, key);
  const missing = (...wanted: string[]) => wanted.filter((key) => !has(key)).map((key) => required(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[SERVICE_ACCOUNT_NAME]
        ? []
        : [required(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`)];
    case 'kubernetes.io/dockercfg':
      return has('.dockercfg') ? jsonObject('.dockercfg', data) : missing('.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return has('.dockerconfigjson') ? jsonObject('.dockerconfigjson', data) : missing('.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password') ? [] : missing('username', 'password');
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

const BEGINS_A_VALUE = /^\s*["[{\-0-9tfn]/;

/** The message never shows the value. */
function jsonObject(key: string, data: Readonly<Record<string, string>>): FieldError[] {
  const text = Buffer.from(data[key] ?? '', 'base64').toString();
  const problem = whyNotJsonObject(text);
  return problem ? [invalid(`data[${key}]`, '<secret contents redacted>', problem)] : [];
}

function whyNotJsonObject(text: string): string | undefined {
  if (!text.trim()) return 'unexpected end of JSON input';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message would show a part of the secret.
    return BEGINS_A_VALUE.test(text)
      ? 'invalid JSON'
      : `invalid character '${text.trim()[0]}' looking for beginning of value`;
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const word = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${word} into Go value of type map[string]interface {}`;
}

/** Warns of a certificate and a key that do not match. */
export function secretWarnings({ type, data = {} }: Pick<Secret, 'type' | 'data'>): string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const certificate = textOf(data['tls.crt']);
  const key = textOf(data['tls.key']);
  if (!BEGIN.test(certificate)) return ['tls: failed to find any PEM data in certificate input'];
  if (!BEGIN.test(key)) return ['tls: failed to find any PEM data in key input'];
  const [leaf, secret] = [certificateIn(certificate), keyIn(key)];
  if (!leaf) return ['x509: malformed certificate'];
  if (!secret) return ['tls: failed to parse private key'];
  return leaf.checkPrivateKey(secret) ? [] : ['tls: private key does not match public key'];
}

function textOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
