/** A small Google Cloud DNS: one public and one private zone, tokens for one service account, pages of a few items. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { type ApiReply, type ApiRequest, type ApiServer, startApi } from './api-server.ts';

interface StoredRecord {
  readonly kind: 'dns#resourceRecordSet';
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly rrdatas: readonly string[];
}

const PROJECT = 'a-project';

export class FakeCloudDns {
  readonly #records = new Map<string, StoredRecord>();
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** Answers with this error, once. */
  #fail: ApiReply | undefined;
  #api: ApiServer | undefined;
  /** Requests so far, as `METHOD path`. */
  readonly calls: string[] = [];
  /** Number of issued tokens. */
  tokens = 0;
  readonly #valid = new Set<string>();
  /** Maximum number of record sets in a page. */
  pageSize = 2;

  static async start(): Promise<FakeCloudDns> {
    const fake = new FakeCloudDns();
    fake.#api = await startApi((request) => fake.#handle(request));
    const soa = { kind: 'dns#resourceRecordSet', name: 'example.com.', type: 'SOA', ttl: 21_600 } as const;
    fake.#records.set('SOA example.com.', { ...soa, rrdatas: ['ns.google. admin.google. 1 2 3 4 5'] });
    return fake;
  }

  get url(): string {
    return this.#api!.url;
  }

  close(): Promise<void> {
    return this.#api!.close();
  }

  /** The key of the service account, as Google hands it out. */
  key(changes: object = {}): string {
    const private_key = this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
    return JSON.stringify({
      ...{ type: 'service_account', project_id: PROJECT, private_key_id: 'key-1', private_key },
      ...{ client_email: 'fed@a-project.iam.gserviceaccount.com', token_uri: `${this.url}/token`, ...changes },
    });
  }

  failOnce(status: number, reason: string): void {
    this.#fail = error(status, reason, `${reason} for a test`);
  }

  /** Rejects all tokens that were issued so far. */
  revokeTokens(): void {
    this.#valid.clear();
  }

  #handle(request: ApiRequest): ApiReply {
    const { method, url, headers, body } = request;
    this.calls.push(`${method} ${url.pathname}`);
    if (url.pathname === '/token') return this.#grant(body);
    if (url.pathname.startsWith('/computeMetadata/v1/')) return this.#metadata(request);
    const token = headers.authorization?.replace('Bearer ', '');
    if (!token || !this.#valid.has(token)) return error(401, 'authError', 'Invalid Credentials');
    if (this.#fail) {
      const failure = this.#fail;
      this.#fail = undefined;
      return failure;
    }
    const base = `/dns/v1/projects/${PROJECT}/managedZones`;
    if (url.pathname === base && method === 'GET') return this.#zones(url.searchParams);
    if (url.pathname === `${base}/public-zone/rrsets` && method === 'GET') return this.#list(url.searchParams);
    if (url.pathname === `${base}/public-zone/changes` && method === 'POST') return this.#change(JSON.parse(body));
    return error(404, 'notFound', 'Not Found');
  }

  #grant(body: string): ApiReply {
    const form = new URLSearchParams(body);
    const [header = '', payload = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const verifier = createVerify('RSA-SHA256').update(`${header}.${payload}`);
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const isRight =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      verifier.verify(this.#keys.publicKey, signature, 'base64url') &&
      claims.aud === `${this.url}/token` &&
      claims.exp - claims.iat === 3_600 &&
      claims.scope.includes('clouddns');
    if (!isRight) return json(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    return this.#issue();
  }

  #issue(): ApiReply {
    const token = `ya29.token-${++this.tokens}`;
    this.#valid.add(token);
    return json(200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' });
  }

  #metadata({ url, headers }: ApiRequest): ApiReply {
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, body: 'Missing Metadata-Flavor:Google header.' };
    if (url.pathname.endsWith('/project/project-id')) return { status: 200, body: PROJECT };
    return this.#issue();
  }

  #zones(query: URLSearchParams): ApiReply {
    const all = [
      { kind: 'dns#managedZone', name: 'private-zone', dnsName: 'example.com.', visibility: 'private' },
      { kind: 'dns#managedZone', name: 'public-zone', dnsName: 'example.com.', visibility: 'public' },
    ];
    const matching = all.filter(({ dnsName }) => !query.has('dnsName') || dnsName === query.get('dnsName'));
    return json(200, page('managedZones', matching, { query, size: 1 }));
  }

  #list(query: URLSearchParams): ApiReply {
    const matching = [...this.#records.values()].filter(
      ({ name, type }) =>
        (!query.has('name') || name === query.get('name')) && (!query.has('type') || type === query.get('type')),
    );
    return json(200, page('rrsets', matching, { query, size: this.pageSize }));
  }

  /** Applies all changes or none: deletions must match exactly, additions must be new. */
  #change({ additions = [], deletions = [] }: { additions?: StoredRecord[]; deletions?: StoredRecord[] }): ApiReply {
    const next = new Map(this.#records);
    for (const [index, record] of deletions.entries()) {
      const where = `The 'entity.change.deletions[${index}]' resource named '${record.name} (${record.type})'`;
      const found = next.get(keyOf(record));
      if (!found) return error(404, 'notFound', `${where} does not exist.`);
      if (found.ttl !== record.ttl || found.rrdatas.join() !== record.rrdatas.join()) {
        return error(412, 'conditionNotMet', `Precondition not met for 'entity.change.deletions[${index}]'`);
      }
      next.delete(keyOf(record));
    }
    for (const [index, record] of additions.entries()) {
      const where = `entity.change.additions[${index}]`;
      if (next.has(keyOf(record))) return error(409, 'alreadyExists', `The resource '${where}' already exists`);
      const isAlone = (type: string) => next.has(`${type} ${record.name}`);
      if (record.type === 'CNAME' ? isAlone('A') || isAlone('AAAA') : isAlone('CNAME')) {
        return error(
          400,
          'cnameResourceRecordSetConflict',
          `The resource record set '${where}' conflicts with a CNAME`,
        );
      }
      next.set(keyOf(record), { ...record, kind: 'dns#resourceRecordSet' });
    }
    this.#records.clear();
    for (const [key, record] of next) this.#records.set(key, record);
    return json(200, { kind: 'dns#change', additions, deletions, id: '1', status: 'pending' });
  }
}

const keyOf = ({ name, type }: StoredRecord) => `${type} ${name}`;
const json = (status: number, body: object): ApiReply => ({ status, body: JSON.stringify(body) });

function error(code: number, reason: string, message: string): ApiReply {
  return json(code, { error: { code, message, errors: [{ message, domain: 'global', reason }] } });
}

/** The token of a page is where it starts. */
function page(
  field: string,
  all: readonly object[],
  { query, size }: { query: URLSearchParams; size: number },
): object {
  const start = Number(query.get('pageToken') ?? 0);
  const end = start + Math.min(size, Number(query.get('maxResults') ?? size));
  return { [field]: all.slice(start, end), ...(end < all.length ? { nextPageToken: String(end) } : {}) };
}
