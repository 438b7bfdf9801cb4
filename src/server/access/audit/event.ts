/** The audit record of one request, written as lines of audit.k8s.io/v1. */
import { isIP } from 'node:net';
import type { Status } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Attributes, Decision } from '../authz/authorizer.ts';
import { constraintOn } from '../authz/impersonation/impersonation.ts';
import type { Verdict } from './evaluator.ts';
import type { Stage } from './policy.ts';

/** The parts of a request that the audit log uses. */
export interface AuditedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly peer: { readonly address: string };
}

export interface Sink {
  write(line: string): void;
}

interface RecordOptions {
  readonly id: string;
  readonly verdict: Verdict;
  readonly request: AuditedRequest;
  /** The sender of the request; undefined if it could not be authenticated. */
  readonly sender: User | undefined;
  readonly attributes: Attributes;
  readonly clock: Clock;
  readonly sink: Sink;
}

export interface RequestOutcome {
  readonly code: number;
  /** The Status that was sent in place of an object. */
  readonly status?: Status | undefined;
  /** The response as JSON. Called only if the policy wants it. */
  readonly body?: (() => Buffer) | undefined;
  /** True when the server failed unexpectedly. */
  readonly panic?: boolean;
}

const MAX_USER_AGENT_LENGTH = 1024;

export class AuditRecord {
  readonly #received: string;
  readonly #objectRef: Record<string, string> | undefined;
  #impersonated: User | undefined;
  #annotations: Record<string, string> | undefined;
  #requestObject: string | undefined;
  #isEnded = false;

  get id(): string {
    return this.options.id;
  }

  constructor(private readonly options: RecordOptions) {
    this.#received = micro(options.clock.now());
    this.#objectRef = objectRefOf(options.attributes);
    this.#write('RequestReceived');
  }

  impersonating(user: User): void {
    this.#impersonated = user;
  }

  decided({ verdict, reason }: Decision): void {
    this.annotate('authorization.k8s.io/decision', verdict === 'allow' ? 'allow' : 'forbid');
    this.annotate('authorization.k8s.io/reason', reason);
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= {};
    this.#annotations[key] = value;
  }

  annotateAll(annotations: Readonly<Record<string, string>> | undefined): void {
    for (const key in annotations) this.annotate(key, annotations[key]!);
  }

  /** Records the request's body. Must be called before anything changes it. */
  setRequestBody(body: unknown): void {
    const { level, omitManagedFields } = this.options.verdict;
    if (this.#objectRef) complete(this.#objectRef, body);
    if (level === 'Metadata' || body === undefined) return;
    const text = JSON.stringify(body);
    this.#requestObject = omitManagedFields ? withoutManagedFields(text) : text;
  }

  /** Records that the headers of a streamed response have been sent. */
  started(code: number): void {
    if (!this.#isEnded) this.#write('ResponseStarted', { code });
  }

  ended(outcome: RequestOutcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#write(outcome.panic ? 'Panic' : 'ResponseComplete', outcome);
  }

  #write(stage: Stage, outcome?: RequestOutcome): void {
    const { id, verdict, request, sender, attributes, clock, sink } = this.options;
    if (verdict.omitStages.has(stage)) return;
    const stageTimestamp = stage === 'RequestReceived' ? this.#received : micro(clock.now());
    // Concatenated by hand, since a line is written for every request.
    const text =
      `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${verdict.level}","auditID":${quoted(id)}` +
      `,"stage":"${stage}","requestURI":${quoted(request.url)},"verb":${quoted(attributes.verb)}` +
      `,"user":${sender ? userJson(sender) : '{}'}${this.#impersonation()}` +
      `,"sourceIPs":${sourceIPs(request)}${member('userAgent', userAgent(request))}` +
      `${member('objectRef', this.#objectRef)}${outcome ? `,"responseStatus":${responseStatus(outcome)}` : ''}` +
      `,"requestReceivedTimestamp":"${this.#received}","stageTimestamp":"${stageTimestamp}"` +
      member('annotations', this.#annotations);
    sink.write(`${text}${this.#objects(outcome)}}\n`);
  }

  #impersonation(): string {
    const user = this.#impersonated;
    if (!user) return '';
    return `,"impersonatedUser":${userJson(user)}${member('authenticationMetadata', metadataOf(user))}`;
  }

  #objects(outcome: RequestOutcome | undefined): string {
    const { level, omitManagedFields } = this.options.verdict;
    let text = this.#requestObject === undefined ? '' : `,"requestObject":${this.#requestObject}`;
    if (level === 'RequestResponse' && outcome?.body) {
      const response = outcome.body().toString('utf8').trim();
      text += `,"responseObject":${omitManagedFields ? withoutManagedFields(response) : response}`;
    }
    return text;
  }
}

function objectRefOf(attributes: Attributes): Record<string, string> | undefined {
  if (attributes.path !== undefined) return undefined;
  const { resource, namespace, name, group, version, subresource } = attributes;
  const ref: Record<string, string> = { resource };
  if (namespace) ref.namespace = namespace;
  if (name) ref.name = name;
  if (group) ref.apiGroup = group;
  ref.apiVersion = version;
  if (subresource) ref.subresource = subresource;
  return ref;
}

/** Adds fields from the object that the path does not contain. */
function complete(objectRef: Record<string, string>, body: unknown): void {
  const metadata = (body as { metadata?: Record<string, unknown> } | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) return;
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion']) {
    const value = metadata[field];
    if (typeof value === 'string' && value !== '') objectRef[field] ??= value;
  }
}

const quoted = (value: string): string => JSON.stringify(value);

/** Formats a further member of a JSON object; empty if it has no value. */
const member = (name: string, value: object | string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;

/** Cached: authentication returns the same user for the same credentials for a while. */
const userJson = memoized(({ name, uid, groups, extra }: User): string =>
  JSON.stringify({ username: name, uid: uid || undefined, groups, extra }),
);

/** Returns the constraint under which a user was impersonated, if any. */
function metadataOf(impersonated: User): object | undefined {
  const constraint = constraintOn(impersonated);
  return constraint === undefined ? undefined : { impersonationConstraint: constraint };
}

function sourceIPs(request: AuditedRequest): string {
  const { headers, peer } = request;
  if (headers['x-forwarded-for'] || headers['x-real-ip']) return JSON.stringify(proxiedIPs(request));
  return ownIPs(peer);
}

/** Cached, for clients that are not behind a proxy: most connections carry many requests. */
const ownIPs = memoized(({ address }: AuditedRequest['peer']): string =>
  JSON.stringify(address ? [plainAddress(address)] : []),
);

/** Lists the addresses from proxies first, as written, and the connection's own last. */
function proxiedIPs({ headers, peer }: AuditedRequest): string[] {
  const named = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap((value) => String(value ?? '').split(','));
  const found = named.map((text) => text.trim()).filter((text) => isIP(text) !== 0);
  return [...new Set([...found, plainAddress(peer.address)])].filter((text) => text !== '');
}

/** Unmaps an IPv4 address of a dual-stack socket. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

function userAgent({ headers }: AuditedRequest): string | undefined {
  const agent = headers['user-agent'];
  if (typeof agent !== 'string' || agent.length <= MAX_USER_AGENT_LENGTH) return agent as string | undefined;
  return `${agent.slice(0, MAX_USER_AGENT_LENGTH)}...TRUNCATED`;
}

function responseStatus({ code, status }: RequestOutcome): string {
  if (!status) return `{"metadata":{},"code":${code}}`;
  const { message, reason, details } = status;
  return JSON.stringify({ metadata: {}, status: status.status, message, reason, details, code });
}

let lastTime = Number.NaN;
let lastText = '';

/** Formats a MicroTime. Cached, since several requests arrive in the same millisecond, and each has it twice. */
function micro(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastText = `${new Date(milliseconds).toISOString().slice(0, -1)}000Z`;
  }
  return lastText;
}

type Tree = Record<string, any>;

/** Strips `managedFields` from the JSON of an object, a list or a table. */
export function withoutManagedFields(text: string): string {
  if (!text.includes('"managedFields"')) return text;
  const tree = JSON.parse(text) as Tree | null;
  strip(tree);
  if (Array.isArray(tree?.items)) tree.items.forEach(strip);
  if (Array.isArray(tree?.rows)) for (const row of tree.rows) strip(row?.object);
  return JSON.stringify(tree);
}

function strip(tree: Tree | null | undefined): void {
  if (typeof tree?.metadata === 'object' && tree.metadata !== null) delete tree.metadata.managedFields;
}
