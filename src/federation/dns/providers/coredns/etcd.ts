/** The few calls of etcd that the provider needs, through the JSON gateway that every etcd since 3.4 has. */
import { readFile } from 'node:fs/promises';
import { fileProblem } from '../../../../base/files/file-problem.ts';
import { isTree, type Tree } from '../../../../base/json/tree.ts';
import { DnsError } from '../../provider.ts';
import { type HttpReply, httpCall, jsonObject } from '../http.ts';
import { zoneSize } from '../zones.ts';

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

const PAGE_KEYS = 1_000;
const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;
const INVALID_ARGUMENT = 3;

export class Etcd {
  /** The one that answered last comes first. */
  readonly #endpoints: string[];

  constructor(private readonly options: EtcdOptions) {
    this.#endpoints = [...options.endpoints];
  }

  /** Returns all keys that start with a prefix, as of one revision. */
  async list(prefix: string, signal: AbortSignal): Promise<readonly KeyValue[]> {
    const found: KeyValue[] = [];
    const end = encode(`${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`);
    const size = zoneSize('page');
    let start = prefix;
    let revision: string | undefined;
    for (;;) {
      const page = await this.#call(
        'kv/range',
        { key: encode(start), range_end: end, limit: PAGE_KEYS, revision },
        signal,
      );
      size(page.bytes);
      const pairs = pairsOf(page);
      for (const pair of pairs) found.push(pair);
      if (page.reply.more !== true) return found;
      const last = pairs.at(-1)?.key ?? '';
      if (last < start) throw new DnsError('Unavailable', `${page.endpoint} answers with the same keys again`);
      revision = String(page.reply.header.revision);
      start = `${last}\0`;
    }
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const [found] = pairsOf(await this.#call('kv/range', { key: encode(key) }, signal));
    return found && { key, value: found.value };
  }

  /** Makes all changes in one transaction. No key may be in both. */
  async change({ put, remove }: EtcdChanges, signal: AbortSignal): Promise<void> {
    const success = [
      ...[...remove].map((key) => ({ request_delete_range: { key: encode(key) } })),
      ...[...put].map(([key, value]) => ({ request_put: { key: encode(key), value: encode(value) } })),
    ];
    if (success.length === 0) return;
    const { reply, endpoint } = await this.#call('kv/txn', { success }, signal);
    if (reply.succeeded !== true) throw new DnsError('Unavailable', `${endpoint} has not made the changes`);
  }

  /** Asks the endpoints in turn until one answers. */
  async #call(method: string, body: object, signal: AbortSignal): Promise<Accepted> {
    const tls = await this.#tls();
    const failures: string[] = [];
    for (const endpoint of [...this.#endpoints]) {
      try {
        const url = `${endpoint.replace(/\/$/, '')}/v3/${method}`;
        const call = { url, method: 'POST', body: JSON.stringify(body), tls, signal } as const;
        return accepted(endpoint, await httpCall(call));
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
    const { caFile, certFile, keyFile } = this.options;
    if (caFile === undefined && certFile === undefined) return undefined;
    const read = (file: string) =>
      readFile(file).catch((cause: Error) => {
        throw new DnsError('Invalid', `${file} cannot be read: ${fileProblem(cause)}`, { cause });
      });
    return {
      ca: caFile === undefined ? undefined : await read(caFile),
      cert: certFile === undefined ? undefined : await read(certFile),
      key: keyFile === undefined ? undefined : await read(keyFile),
    };
  }
}

interface Accepted {
  readonly endpoint: string;
  readonly reply: Tree & { readonly header: Tree };
  readonly bytes: number;
}

/** Returns an accepted reply. Every answer of etcd has a header; an answer without one is from another program. */
function accepted(endpoint: string, { status, body }: HttpReply): Accepted {
  const reply = jsonObject(body);
  if (status === 200 && isTree(reply?.header))
    return { endpoint, reply: reply as Accepted['reply'], bytes: body.length };
  const code = reply?.code;
  const reason =
    code === PERMISSION_DENIED || code === UNAUTHENTICATED || status === 401 || status === 403
      ? 'Forbidden'
      : code === INVALID_ARGUMENT
        ? 'Invalid'
        : 'Unavailable';
  const message = [reply?.message, reply?.error].find((each) => typeof each === 'string') ?? body.slice(0, 200);
  throw new DnsError(reason, `${endpoint} answers with ${status}: ${message}`);
}

function pairsOf({ reply: { kvs = [] }, endpoint }: Accepted): readonly KeyValue[] {
  const isPair = (each: unknown) =>
    isTree(each) && typeof each.key === 'string' && (each.value === undefined || typeof each.value === 'string');
  if (!Array.isArray(kvs) || !kvs.every(isPair)) {
    throw new DnsError('Unavailable', `${endpoint} answers with keys and values that cannot be read`);
  }
  return kvs.map(({ key, value }) => ({ key: decode(key), value: decode(value) }));
}

const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
