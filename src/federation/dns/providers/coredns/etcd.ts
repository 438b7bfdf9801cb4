/** The few calls of etcd that the provider needs, through the JSON gateway that every etcd since 3.4 has. */
import { readFile } from 'node:fs/promises';
import { fileProblem } from '../../../../base/file-problem.ts';
import { DnsError } from '../../provider.ts';
import { type HttpReply, httpCall } from '../http.ts';

export interface EtcdOptions {
  readonly endpoints: readonly string[];
  /** PEM files for endpoints with TLS. */
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface EtcdChanges {
  readonly put: ReadonlyMap<string, string>;
  readonly remove: Iterable<string>;
}

interface RangeReply {
  readonly header: { readonly revision: string };
  readonly kvs?: readonly KeyValue[];
  readonly more?: boolean;
}

const PAGE_KEYS = 1_000;
const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;
const INVALID_ARGUMENT = 3;

export class Etcd {
  readonly #options: EtcdOptions;
  /** The one that answered last comes first. */
  readonly #endpoints: string[];

  constructor(options: EtcdOptions) {
    this.#options = options;
    this.#endpoints = [...options.endpoints];
  }

  /** All keys that start with a prefix, as of one revision. */
  async list(prefix: string, signal: AbortSignal): Promise<readonly KeyValue[]> {
    const found: KeyValue[] = [];
    const end = encode(`${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`);
    let start = prefix;
    let revision: string | undefined;
    for (;;) {
      const page: RangeReply = await this.#call<RangeReply>(
        'kv/range',
        { key: encode(start), range_end: end, limit: PAGE_KEYS, ...(revision === undefined ? {} : { revision }) },
        signal,
      );
      for (const { key, value } of page.kvs ?? []) found.push({ key: decode(key), value: decode(value) });
      if (!page.more) return found;
      revision = page.header.revision;
      start = `${found.at(-1)!.key}\0`;
    }
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const { kvs } = await this.#call<RangeReply>('kv/range', { key: encode(key) }, signal);
    return kvs?.[0] && { key, value: decode(kvs[0].value) };
  }

  /** Makes all changes in one transaction. No key may be in both. */
  async change({ put, remove }: EtcdChanges, signal: AbortSignal): Promise<void> {
    const success = [
      ...[...remove].map((key) => ({ request_delete_range: { key: encode(key) } })),
      ...[...put].map(([key, value]) => ({ request_put: { key: encode(key), value: encode(value) } })),
    ];
    if (success.length > 0) await this.#call('kv/txn', { success }, signal);
  }

  /** Asks the endpoints in turn until one answers. */
  async #call<T>(method: string, body: object, signal: AbortSignal): Promise<T> {
    const tls = await this.#tls();
    const failures: string[] = [];
    for (const endpoint of [...this.#endpoints]) {
      try {
        const url = `${endpoint.replace(/\/$/, '')}/v3/${method}`;
        const call = { url, method: 'POST', body: JSON.stringify(body), ...(tls ? { tls } : {}), signal } as const;
        return accepted<T>(endpoint, await httpCall(call));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DnsError) || error.reason !== 'Unavailable') throw error;
        failures.push(error.message);
        this.#endpoints.push(this.#endpoints.shift()!);
      }
    }
    throw new DnsError('Unavailable', failures.join('; '));
  }

  async #tls(): Promise<{ ca?: Buffer; cert?: Buffer; key?: Buffer } | undefined> {
    const { caFile, certFile, keyFile } = this.#options;
    if (caFile === undefined && certFile === undefined) return undefined;
    const read = (file: string) =>
      readFile(file).catch((cause: Error) => {
        throw new DnsError('Invalid', `${file} cannot be read: ${fileProblem(cause)}`, { cause });
      });
    return {
      ...(caFile === undefined ? {} : { ca: await read(caFile) }),
      ...(certFile === undefined ? {} : { cert: await read(certFile) }),
      ...(keyFile === undefined ? {} : { key: await read(keyFile) }),
    };
  }
}

function accepted<T>(endpoint: string, { status, body }: HttpReply): T {
  let reply: { readonly code?: number; readonly message?: string; readonly error?: string } | undefined;
  try {
    reply = JSON.parse(body);
  } catch {
    reply = undefined;
  }
  if (status === 200 && reply) return reply as T;
  const code = reply?.code;
  const reason =
    code === PERMISSION_DENIED || code === UNAUTHENTICATED || status === 401 || status === 403
      ? 'Forbidden'
      : code === INVALID_ARGUMENT
        ? 'Invalid'
        : 'Unavailable';
  throw new DnsError(
    reason,
    `${endpoint} answers with ${status}: ${reply?.message ?? reply?.error ?? body.slice(0, 200)}`,
  );
}

const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
