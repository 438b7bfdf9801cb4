/** A small Route 53: one public and one private zone, signed requests, pages of a few record sets. */
import { signedHeaders } from '../../../src/protocols/aws/signature.ts';
import { all, parseXml, tag, textAt, type XmlElement } from '../../../src/protocols/aws/xml.ts';
import { type ApiReply, type ApiRequest, type ApiServer, startApi } from './api-server.ts';

interface StoredRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: string;
  readonly values: readonly string[];
}

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
const NOW = Date.UTC(2030, 0, 1);
const ZONE = 'example.com.';
const ID = 'Z1PUBLIC';

export class FakeRoute53 {
  readonly #records = new Map<string, StoredRecord>();
  #fail: ApiReply | undefined;
  #api: ApiServer | undefined;
  readonly calls: string[] = [];
  readonly now = () => NOW;
  /** Maximum number of record sets in a page. */
  pageSize = 2;

  static async start(): Promise<FakeRoute53> {
    const fake = new FakeRoute53();
    fake.#api = await startApi((request) => fake.#handle(request));
    fake.#records.set(`SOA ${ZONE}`, { name: ZONE, type: 'SOA', ttl: '900', values: ['ns. host. 1 2 3 4 5'] });
    return fake;
  }

  get url(): string {
    return this.#api!.url;
  }

  close(): Promise<void> {
    return this.#api!.close();
  }

  config(changes: Readonly<Record<string, string>> = {}): string {
    const values = {
      'access-key-id': KEYS.accessKeyId,
      'secret-access-key': KEYS.secretAccessKey,
      'api-endpoint': this.url,
      ...changes,
    };
    return ['[Global]', ...Object.entries(values).map(([key, value]) => `${key} = ${value}`)].join('\n');
  }

  failOnce(status: number, code: string): void {
    this.#fail = error(status, code, `${code} for a test`);
  }

  #handle(request: ApiRequest): ApiReply {
    const { method, url, headers, body } = request;
    this.calls.push(`${method} ${url.pathname}`);
    if (url.pathname.startsWith('/latest/')) return metadata(request);
    const token = headers['x-amz-security-token'] as string | undefined;
    const keys = { ...KEYS, sessionToken: token };
    const type = headers['content-type'];
    const expected = signedHeaders(
      { method, url: url.href, headers: type === undefined ? {} : { 'content-type': type }, body },
      ...([keys, { region: 'us-east-1', service: 'route53', now: NOW }] as const),
    );
    if (headers.authorization !== expected.authorization) {
      return error(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature.');
    }
    if (this.#fail) {
      const failure = this.#fail;
      this.#fail = undefined;
      return failure;
    }
    if (url.pathname === '/2013-04-01/hostedzonesbyname') return zones(url.searchParams.get('dnsname') ?? '');
    if (url.pathname === `/2013-04-01/hostedzone/${ID}/rrset`) return this.#list(url.searchParams);
    if (url.pathname === `/2013-04-01/hostedzone/${ID}/rrset/` && method === 'POST')
      return this.#change(parseXml(body));
    return error(404, 'NoSuchHostedZone', 'No hosted zone found with the ID');
  }

  /** Sorted by the labels of the name from the last one on, as Route 53 does it. */
  #list(query: URLSearchParams): ApiReply {
    const orderOf = (name: string, type: string) => `${name.split('.').reverse().join('.')} ${type}`;
    const sorted = [...this.#records.values()].sort((a, b) =>
      orderOf(a.name, a.type) < orderOf(b.name, b.type) ? -1 : 1,
    );
    const start = query.get('name');
    const from =
      start === null
        ? sorted
        : sorted.filter((each) => orderOf(each.name, each.type) >= orderOf(start, query.get('type') ?? ''));
    const page = from.slice(0, Math.min(this.pageSize, Number(query.get('maxitems'))));
    const next = from[page.length];
    const sets = page.map(({ name, type, ttl, values }) => {
      const records = values.map((value) => tag('ResourceRecord', tag('Value', value))).join('');
      return tag(
        'ResourceRecordSet',
        tag('Name', name) + tag('Type', type) + tag('TTL', ttl) + tag('ResourceRecords', records),
      );
    });
    const rest = next ? tag('NextRecordName', next.name) + tag('NextRecordType', next.type) : '';
    const content = tag('ResourceRecordSets', sets.join('')) + tag('IsTruncated', String(next !== undefined)) + rest;
    return xml(200, tag('ListResourceRecordSetsResponse', content));
  }

  /** Applies all changes or none; deletions must match exactly. */
  #change(request: XmlElement): ApiReply {
    const next = new Map(this.#records);
    for (const change of all(request, 'ChangeBatch', 'Changes', 'Change')) {
      const set = all(change, 'ResourceRecordSet')[0]!;
      const record = {
        ...{ name: textAt(set, 'Name')!, type: textAt(set, 'Type')!, ttl: textAt(set, 'TTL')! },
        values: all(set, 'ResourceRecords', 'ResourceRecord').map((each) => textAt(each, 'Value')!),
      };
      const key = `${record.type} ${record.name}`;
      const what = `[name='${record.name}', type='${record.type}']`;
      if (textAt(change, 'Action') === 'DELETE') {
        const found = next.get(key);
        if (!found) return invalidBatch(`Tried to delete resource record set ${what} but it was not found`);
        if (JSON.stringify(found) !== JSON.stringify(record)) {
          return invalidBatch(`Tried to delete resource record set ${what} but the values provided do not match`);
        }
        next.delete(key);
        continue;
      }
      const has = (type: string) => next.has(`${type} ${record.name}`);
      if (record.type === 'CNAME' ? has('A') || has('AAAA') : has('CNAME')) {
        return invalidBatch(
          `RRSet of type ${record.type} with DNS name ${record.name} is not permitted as it conflicts`,
        );
      }
      next.set(key, record);
    }
    this.#records.clear();
    for (const [key, record] of next) this.#records.set(key, record);
    return xml(
      200,
      tag('ChangeResourceRecordSetsResponse', tag('ChangeInfo', tag('Id', '/change/C1') + tag('Status', 'PENDING'))),
    );
  }
}

/** Lists zones from the given name on, in order. */
function zones(from: string): ApiReply {
  const zone = (id: string, isPrivate: boolean) =>
    tag(
      'HostedZone',
      tag('Id', `/hostedzone/${id}`) + tag('Name', ZONE) + tag('Config', tag('PrivateZone', String(isPrivate))),
    );
  const found =
    from.split('.').reverse().join('.') <= ZONE.split('.').reverse().join('.')
      ? zone('Z0PRIVATE', true) + zone(ID, false)
      : '';
  return xml(200, tag('ListHostedZonesByNameResponse', tag('HostedZones', found) + tag('IsTruncated', 'false')));
}

function metadata({ method, url, headers }: ApiRequest): ApiReply {
  if (url.pathname === '/latest/api/token') return { status: method === 'PUT' ? 200 : 405, body: 'session' };
  if (headers['x-aws-ec2-metadata-token'] !== 'session') return { status: 401, body: '' };
  if (url.pathname.endsWith('/security-credentials/')) return { status: 200, body: 'a-role' };
  const Expiration = new Date(NOW + 3_600_000).toISOString();
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = KEYS;
  return {
    status: 200,
    body: JSON.stringify({ Code: 'Success', AccessKeyId, SecretAccessKey, Token: 'temporary', Expiration }),
  };
}

const xml = (status: number, content: string): ApiReply => ({ status, body: `<?xml version="1.0"?>\n${content}` });

function error(status: number, code: string, message: string): ApiReply {
  const content = tag('Error', tag('Type', 'Sender') + tag('Code', code) + tag('Message', message));
  return xml(status, tag('ErrorResponse', content + tag('RequestId', 'b25f48e8')));
}

function invalidBatch(message: string): ApiReply {
  return xml(400, tag('InvalidChangeBatch', tag('Messages', tag('Message', message)) + tag('RequestId', 'b25f48e8')));
}
