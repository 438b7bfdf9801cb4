/** The provider `google-clouddns`. */
import { isTree, type Tree } from '../../../../base/json/tree.ts';
import {
  DnsError,
  type DnsProvider,
  type DnsZone,
  type ProviderDriver,
  type RecordChanges,
  type RecordSet,
  recordKey,
} from '../../provider.ts';
import { type HttpCall, type HttpReply, httpCall, jsonObject } from '../http.ts';
import { globalSection } from '../ini.ts';
import { checkNames, zoneSize } from '../zones.ts';
import {
  type AccessTokens,
  machineProject,
  machineTokens,
  readServiceAccount,
  serviceAccountTokens,
} from './credentials.ts';

const KEYS = ['project-id', 'service-account-key', 'managed-zone', 'api-endpoint', 'metadata-endpoint'];
const DEFAULT_API = 'https://dns.googleapis.com';
const DEFAULT_METADATA = 'http://metadata.google.internal';
const PAGE_RECORDS = 1_000;
/** Google allows 1,000 additions and as many deletions in a change. */
const MAX_CHANGES = 500;
/** Maximum number of lookups; for more changed record sets, the zone is read once. */
const MAX_LOOKUPS = 10;
const TYPES: ReadonlySet<unknown> = new Set(['A', 'AAAA', 'CNAME']);

/** The configuration is an INI file, or the key of a service account as Google hands it out. */
export const googleCloudDns: ProviderDriver = {
  open({ config, now }): DnsProvider {
    const isKey = config?.trimStart().startsWith('{') === true;
    const values = isKey ? new Map<string, string>() : globalSection(config, KEYS);
    const encoded = values.get('service-account-key');
    const keyText = isKey ? config : encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
    const account = keyText === undefined ? undefined : readServiceAccount(keyText);
    const metadata = values.get('metadata-endpoint') ?? DEFAULT_METADATA;
    const api = new CloudDnsApi({
      endpoint: values.get('api-endpoint') ?? DEFAULT_API,
      project: values.get('project-id') ?? account?.projectId,
      findProject: (signal) => machineProject(metadata, signal),
      tokens: account ? serviceAccountTokens(account, now) : machineTokens(metadata, now),
    });
    return {
      async zone(name, signal) {
        const isItem = (each: Tree) => each.dnsName === name && typeof each.name === 'string';
        const zones = await api.list<ManagedZone>('managedZones', { dnsName: name }, { isItem, signal });
        const wanted = values.get('managed-zone');
        // A private zone may have the name of a public one.
        const found = wanted
          ? zones.find((each) => each.name === wanted)
          : (zones.find(({ visibility }) => visibility !== 'private') ?? zones[0]);
        return found && new CloudDnsZone(name, `managedZones/${encodeURIComponent(found.name)}`, api);
      },
    };
  },
};

interface ManagedZone {
  readonly name: string;
  readonly dnsName: string;
  readonly visibility?: string;
}

interface ResourceRecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttl?: number;
  readonly rrdatas?: readonly string[];
  /** Record sets that answer by where the client is. */
  readonly routingPolicy?: object;
}

interface ApiOptions {
  readonly endpoint: string;
  readonly project: string | undefined;
  readonly findProject: (signal: AbortSignal) => Promise<string>;
  readonly tokens: AccessTokens;
}

class CloudDnsApi {
  #project: string | undefined;

  constructor(private readonly options: ApiOptions) {
    this.#project = options.project;
  }

  /** Returns all items of a collection, from all its pages, except those that `isItem` rejects. */
  async list<T>(
    path: string,
    query: Readonly<Record<string, string>>,
    { isItem, signal }: { readonly isItem: (item: Tree) => boolean; readonly signal: AbortSignal },
  ): Promise<readonly T[]> {
    const items: T[] = [];
    let pageToken: string | undefined;
    const field = path.split('/').at(-1)!;
    const size = zoneSize('page');
    do {
      const search = new URLSearchParams({
        ...query,
        maxResults: String(PAGE_RECORDS),
        ...(pageToken === undefined ? {} : { pageToken }),
      });
      const { reply, bytes } = await this.call(`${path}?${search}`, undefined, signal);
      size(bytes);
      const found = reply[field] ?? [];
      if (!Array.isArray(found))
        throw new DnsError('Unavailable', `Google Cloud DNS answers with ${field} that are no list`);
      for (const item of found) if (isTree(item) && isItem(item)) items.push(item as T);
      pageToken = typeof reply.nextPageToken === 'string' ? reply.nextPageToken : undefined;
    } while (pageToken);
    return items;
  }

  /** Sends a POST if there is a body, and a GET otherwise. */
  async call(
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly reply: Tree; readonly bytes: number }> {
    const { endpoint, findProject } = this.options;
    this.#project ??= await findProject(signal);
    const headers = { accept: 'application/json' };
    const reply = await this.#authorized({
      url: `${endpoint.replace(/\/$/, '')}/dns/v1/projects/${encodeURIComponent(this.#project)}/${path}`,
      ...(body
        ? { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
        : { headers }),
      signal,
    });
    const parsed = jsonObject(reply.body);
    const isSuccess = reply.status >= 200 && reply.status < 300;
    if (isSuccess && parsed) return { reply: parsed, bytes: reply.body.length };
    const error = isTree(parsed?.error) ? parsed.error : {};
    const message = typeof error.message === 'string' ? error.message : reply.body.slice(0, 200);
    const reason = isSuccess ? 'Unavailable' : reasonOf(reply.status, error);
    throw new DnsError(reason, `Google Cloud DNS answers with ${reply.status}: ${message}`);
  }

  /** A token may be revoked before it expires: after a 401, the call is repeated once with another one. */
  async #authorized(call: HttpCall, isRepeated = false): Promise<HttpReply> {
    const { tokens } = this.options;
    const token = await tokens.get(call.signal);
    const reply = await httpCall({ ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } });
    if (reply.status !== 401) return reply;
    tokens.forget(token);
    return isRepeated ? reply : this.#authorized(call, true);
  }
}

/** Statuses after which the call is repeated, because it then sees another client's change of the same records. */
const RACES = new Set([404, 409, 412]);
const QUOTA_REASONS: ReadonlySet<unknown> = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded']);

function reasonOf(status: number, { errors }: Tree): DnsError['reason'] {
  const reasons = Array.isArray(errors) ? errors.filter(isTree).map(({ reason }) => reason) : [];
  if (reasons.some((reason) => QUOTA_REASONS.has(reason))) return 'Unavailable';
  if (status === 401 || status === 403) return 'Forbidden';
  return status >= 500 || status === 429 || RACES.has(status) ? 'Unavailable' : 'Invalid';
}

class CloudDnsZone implements DnsZone {
  constructor(
    readonly name: string,
    private readonly path: string,
    private readonly api: CloudDnsApi,
  ) {}

  async list(signal: AbortSignal): Promise<readonly RecordSet[]> {
    const found = await this.#recordSets({}, signal);
    return found.flatMap(({ name, type, ttl = 0, rrdatas = [] }) =>
      name === this.name
        ? []
        : [{ name, type: type as RecordSet['type'], ttlSeconds: ttl, values: [...rrdatas].sort() }],
    );
  }

  /** Applies one transaction: deleted records must be given exactly as they are, and added ones must not exist. */
  async change(changes: RecordChanges, signal: AbortSignal): Promise<void> {
    checkNames(changes, this.name);
    const touched = [...changes.remove, ...changes.ensure];
    const existing = await this.#existing(touched, signal);
    const deletions = new Map(
      touched
        .flatMap((each) => [...(existing.has(recordKey(each)) ? [recordKey(each)] : [])])
        .map((key) => [key, existing.get(key)!]),
    );
    const additions = new Map(changes.ensure.map((each) => [recordKey(each), recordOf(each)]));
    for (const [key, record] of additions) {
      const before = deletions.get(key);
      if (before && isSame(before, record)) {
        deletions.delete(key);
        additions.delete(key);
      }
    }
    const all = [...new Set([...deletions.keys(), ...additions.keys()])].sort(byName);
    for (let start = 0; start < all.length; start += MAX_CHANGES) {
      const part = all.slice(start, start + MAX_CHANGES);
      const of = (records: ReadonlyMap<string, ResourceRecordSet>) => part.flatMap((key) => records.get(key) ?? []);
      await this.api.call(`${this.path}/changes`, { additions: of(additions), deletions: of(deletions) }, signal);
    }
  }

  async #existing(
    touched: readonly Pick<RecordSet, 'name' | 'type'>[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ResourceRecordSet>> {
    const keys = new Map(touched.map((each) => [recordKey(each), each]));
    const pages =
      keys.size > MAX_LOOKUPS
        ? [await this.#recordSets({}, signal)]
        : await Promise.all([...keys.values()].map(({ name, type }) => this.#recordSets({ name, type }, signal)));
    return new Map(pages.flat().map((each) => [recordKey(each), each]));
  }

  async #recordSets(
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly ResourceRecordSet[]> {
    return this.api.list<ResourceRecordSet>(`${this.path}/rrsets`, query, { isItem: isRecordSet, signal });
  }
}

function isRecordSet({ name, type, ttl, rrdatas, routingPolicy }: Tree): boolean {
  const hasValues = Array.isArray(rrdatas) && rrdatas.every((each) => typeof each === 'string');
  const isTyped = typeof name === 'string' && TYPES.has(type) && (ttl === undefined || typeof ttl === 'number');
  return isTyped && hasValues && !routingPolicy;
}

/** The changes of a name stay together: an alias replaces addresses in one change. */
function byName(a: string, b: string): number {
  const [nameA, nameB] = [a.split(' ')[1]!, b.split(' ')[1]!];
  return nameA < nameB ? -1 : Number(nameA > nameB);
}

function recordOf({ name, type, ttlSeconds, values }: RecordSet): ResourceRecordSet {
  return { name, type, ttl: ttlSeconds, rrdatas: values };
}

function isSame(a: ResourceRecordSet, b: ResourceRecordSet): boolean {
  const values = ({ rrdatas = [] }: ResourceRecordSet) => [...rrdatas].sort().join();
  return a.ttl === b.ttl && values(a) === values(b);
}
