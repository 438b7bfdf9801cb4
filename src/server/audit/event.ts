/** What is noted of a request, as lines in the form of audit.k8s.io/v1. */
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Status } from '../../base/errors.ts';
import type { User } from '../api.ts';
import type { Attributes, Decision } from '../authz/authorizer.ts';
import { constraintOn } from '../authz/impersonation/impersonation.ts';
import type { Verdict } from './evaluator.ts';
import { withoutManagedFields } from './managed-fields.ts';
import type { Stage } from './policy.ts';

/** The request, as far as the log wants to know it. */
export interface Heard {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The other end of the connection. */
  readonly peer: { readonly address: string };
}

export interface Sink {
  write(line: string): void;
}

interface Opening {
  readonly id: string;
  readonly verdict: Verdict;
  readonly heard: Heard;
  /** Who sent the request; nobody, where that was not found out. */
  readonly sender: User | undefined;
  readonly attributes: Attributes;
  readonly clock: Clock;
  readonly sink: Sink;
}

/** How a request ended. */
export interface Outcome {
  readonly code: number;
  /** What was answered in place of an object. */
  readonly status?: Status | undefined;
  /** The answer's bytes, as JSON. Asked for where the policy wants them. */
  readonly body?: (() => Buffer) | undefined;
  /** Whether the server failed in a way that nobody foresaw. */
  readonly panic?: boolean;
}

const MAX_USER_AGENT = 1024;

export class AuditRecord {
  readonly #opening: Opening;
  readonly #received: string;
  readonly #objectRef: Record<string, string> | undefined;
  #impersonated: User | undefined;
  #annotations: Record<string, string> | undefined;
  #requestObject: string | undefined;
  #isOver = false;

  get id(): string {
    return this.#opening.id;
  }

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#received = micro(opening.clock.now());
    this.#objectRef = objectRefOf(opening.attributes);
    this.#note('RequestReceived');
  }

  /** The request is made as somebody else. */
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

  /** What the request brought, before somebody changes it. */
  brought(body: unknown): void {
    const { level, omitManagedFields } = this.#opening.verdict;
    if (this.#objectRef) complete(this.#objectRef, body);
    if (level === 'Metadata' || body === undefined) return;
    const text = JSON.stringify(body);
    this.#requestObject = omitManagedFields ? withoutManagedFields(text) : text;
  }

  /** The head of an answer that goes on has left. */
  started(code: number): void {
    if (!this.#isOver) this.#note('ResponseStarted', { code });
  }

  ended(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#note(outcome.panic ? 'Panic' : 'ResponseComplete', outcome);
  }

  #note(stage: Stage, outcome?: Outcome): void {
    const { id, verdict, heard, sender, attributes, clock, sink } = this.#opening;
    if (verdict.omitStages.has(stage)) return;
    const stageTimestamp = stage === 'RequestReceived' ? this.#received : micro(clock.now());
    // Put together by hand: this line is written for every request.
    const text =
      `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${verdict.level}","auditID":${quoted(id)}` +
      `,"stage":"${stage}","requestURI":${quoted(heard.url)},"verb":${quoted(attributes.verb)}` +
      `,"user":${userJson(sender)}${this.#impersonation()}` +
      `,"sourceIPs":${sourceIPs(heard)}${member('userAgent', userAgent(heard))}` +
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

  #objects(outcome: Outcome | undefined): string {
    const { level, omitManagedFields } = this.#opening.verdict;
    let text = this.#requestObject === undefined ? '' : `,"requestObject":${this.#requestObject}`;
    if (level === 'RequestResponse' && outcome?.body) {
      const answer = outcome.body().toString('utf8').trim();
      text += `,"responseObject":${omitManagedFields ? withoutManagedFields(answer) : answer}`;
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

/** What the path left open, the object says. */
function complete(objectRef: Record<string, string>, body: unknown): void {
  const metadata = (body as { metadata?: Record<string, unknown> } | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) return;
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion']) {
    const value = metadata[field];
    if (typeof value === 'string' && value !== '') objectRef[field] ??= value;
  }
}

const quoted = (value: string): string => JSON.stringify(value);

/** A field behind others; nothing, where there is nothing to say. */
const member = (name: string, value: object | string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;

const users = new WeakMap<User, string>();

/** Of the same user, who is the same value for a while, it is always the same. */
function userJson(user: User | undefined): string {
  if (!user) return '{}';
  let json = users.get(user);
  if (json === undefined) {
    const { name, uid, groups, extra } = user;
    json = JSON.stringify({ username: name, ...(uid && { uid }), groups, ...(extra && { extra }) });
    users.set(user, json);
  }
  return json;
}

/** By which right somebody was acted as, where that was one for a few things only. */
function metadataOf(impersonated: User): object | undefined {
  const constraint = constraintOn(impersonated);
  return constraint === undefined ? undefined : { impersonationConstraint: constraint };
}

/** Of those who speak for themselves: most connections have many requests. */
const ownIPs = new WeakMap<Heard['peer'], string>();

function sourceIPs(heard: Heard): string {
  const { headers, peer } = heard;
  if (headers['x-forwarded-for'] || headers['x-real-ip']) return JSON.stringify(proxiedIPs(heard));
  let json = ownIPs.get(peer);
  if (json === undefined) {
    json = JSON.stringify(peer.address ? [plainAddress(peer.address)] : []);
    ownIPs.set(peer, json);
  }
  return json;
}

/** Those whom proxies name come first, as they were written; the end of the connection is the last. */
function proxiedIPs({ headers, peer }: Heard): string[] {
  const named = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap((value) => String(value ?? '').split(','));
  const found = named.map((text) => text.trim()).filter((text) => isIP(text) !== 0);
  return [...new Set([...found, plainAddress(peer.address)])].filter((text) => text !== '');
}

/** An IPv4 client of a socket for both families. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

function userAgent({ headers }: Heard): string | undefined {
  const agent = headers['user-agent'];
  if (typeof agent !== 'string' || agent.length <= MAX_USER_AGENT) return agent as string | undefined;
  return `${agent.slice(0, MAX_USER_AGENT)}...TRUNCATED`;
}

function responseStatus({ code, status }: Outcome): string {
  if (!status) return `{"metadata":{},"code":${code}}`;
  const { message, reason, details } = status;
  return JSON.stringify({ metadata: {}, status: status.status, message, reason, details, code });
}

let lastTime = Number.NaN;
let lastText = '';

/** Several requests come in the same millisecond, and each says it twice. */
function micro(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastText = `${new Date(milliseconds).toISOString().slice(0, -1)}000Z`;
  }
  return lastText;
}
