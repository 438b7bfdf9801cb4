/** A request between its arrival and its end: what is noted of it, the seat that it has, the time that it is given. */
import { ApiError, type Status } from '../../../base/errors.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { CallOptions, User } from '../../api.ts';
import type { Audit } from '../../audit/audit.ts';
import type { AuditRecord, Outcome } from '../../audit/event.ts';
import { attributesOfPath } from '../../authz/attributes.ts';
import type { Attributes } from '../../authz/authorizer.ts';
import type { Admitting, Seat } from '../../fairness/admitting.ts';
import type { Memo, PerRoute } from '../../per-route.ts';
import { Disconnected } from '../errors.ts';
import { type Exchange, NO_HEADERS } from '../protocol/exchange.ts';
import { isForeseen, statusOf } from '../respond/respond.ts';
import type { Route } from '../route/route.ts';
import { Deadline, type Deadlines } from './deadlines.ts';

export interface Visitors {
  readonly audit: Audit | undefined;
  readonly admitting: Admitting | undefined;
  readonly deadlines: Deadlines;
  readonly sorts: PerRoute;
  /** Answers a request whose time is up. */
  readonly late: (exchange: Exchange, error: ApiError) => Promise<void>;
}

const NOBODY: User = { name: '', groups: [] };
const NOTHING: Attributes = { user: NOBODY, verb: '', path: '' };
const NO_OPTIONS: CallOptions = {};

const timeout = () => new ApiError('Timeout', 'Timeout: request did not complete within the allotted timeout');

const closedEarly: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  message: 'Connection closed early',
  code: 200,
};

/** It is itself what the audit log and those who give out seats are told: it is made for every request. */
export class Visit extends Deadline {
  readonly client: Exchange;
  attributes: Attributes = NOTHING;
  memo: Memo | undefined;
  kind: Kind | undefined;
  options: CallOptions = NO_OPTIONS;
  readonly #visitors: Visitors;
  #seat: Seat | undefined;
  #isOpen = false;
  #outcome: Outcome | undefined;
  /** Who sent the request, when that is known. */
  sender: User | undefined;
  /** Undefined where nothing is to be noted. */
  record: AuditRecord | undefined;

  constructor(exchange: Exchange, visitors: Visitors) {
    super();
    this.client = exchange;
    this.#visitors = visitors;
    visitors.deadlines.set(this);
  }

  /** Undefined when there is room at once. Throws, or rejects with, TooManyRequests. */
  enter(attributes: Attributes, route?: Route, options: CallOptions = NO_OPTIONS): Promise<void> | undefined {
    const { audit, admitting, sorts } = this.#visitors;
    const { user, verb } = attributes;
    const isOwn = user === this.sender;
    this.attributes = attributes;
    this.options = options;
    this.kind = route?.resource.kind;
    if (route && isOwn) this.memo = sorts.memo(user, verb, route);
    if (audit) {
      this.#open();
      if (!isOwn) this.record?.impersonating(user);
    }
    if (!admitting) return undefined;
    const seat = admitting.enter(this);
    if (seat instanceof Promise) return seat.then((found) => this.#sitLate(found));
    this.#sit(seat);
    return undefined;
  }

  /** While the client is waited for, somebody else may have the seat. */
  async without<T>(waiting: Promise<T>): Promise<T> {
    this.#seat?.pause();
    try {
      return await waiting;
    } finally {
      this.#seat?.resume();
    }
  }

  /** How it ends, unless something goes wrong until then. */
  endsWith(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** The answer has begun and goes on: that takes as long as it takes. */
  goesOn(code: number): void {
    this.#visitors.deadlines.clear(this);
    this.#leave();
    this.record?.started(code);
  }

  ended(): void {
    this.#visitors.deadlines.clear(this);
    this.#leave();
    this.record?.ended(this.#outcome ?? { code: this.client.code });
    if (this.client.hasUnsentResponse) this.#visitors.deadlines.set(new Unsent(this.client));
  }

  /** An error is about to be answered. What nobody got as far as looking at is noted as well. */
  failing(): void {
    if (!this.#visitors.audit || this.#isOpen) return;
    this.attributes = attributesOf(this.client, this.sender ?? NOBODY);
    this.#open();
  }

  failed(error: unknown): void {
    if (this.record) this.#outcome = outcomeOf(error);
    this.ended();
  }

  /** Whoever has not said who he is waits behind the others of his address, and is given up where too many of those wait. */
  asStranger(): Promise<void> | undefined {
    const { admitting } = this.#visitors;
    const { address } = this.client.peer;
    if (this.sender || !admitting) return undefined;
    if (!admitting.isCrowded(address)) return admitting.stranger(address, 1);
    this.client.abort();
    return undefined;
  }

  #open(): void {
    this.#isOpen = true;
    const { sender, attributes, client } = this;
    // Rules speak of who sent the request, whomever he acts as.
    const isOther = sender !== undefined && attributes.user !== sender;
    const asked = isOther ? { client, sender, attributes: { ...attributes, user: sender }, memo: undefined } : this;
    this.record = this.#visitors.audit?.open(asked);
    if (this.record) client.responseHeaders = ['Audit-ID', this.record.id];
  }

  /** Who has left meanwhile would be worked on for nothing, and his body never comes. */
  #sitLate(seat: Seat): void {
    this.#sit(seat);
    if (this.client.isDisconnected) throw new Disconnected('the client left while its request waited');
  }

  #sit(seat: Seat): void {
    this.#seat = seat;
    const { responseHeaders } = this.client;
    this.client.responseHeaders = responseHeaders === NO_HEADERS ? seat.headers : [...responseHeaders, ...seat.headers];
  }

  #leave(): void {
    const seat = this.#seat;
    this.#seat = undefined;
    seat?.leave();
  }

  override expire(): void {
    const error = timeout();
    void this.#visitors.late(this.client, error).then(() => this.record?.ended(outcomeOf(error)));
  }
}

/** A client that does not take its answer must not make the server keep it. */
class Unsent extends Deadline {
  constructor(private readonly exchange: Exchange) {
    super();
  }

  override expire(): void {
    if (this.exchange.hasUnsentResponse) this.exchange.abort();
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof Disconnected) return { code: closedEarly.code, status: closedEarly };
  const status = statusOf(error);
  return { code: status.code, status, panic: !isForeseen(error), body: () => Buffer.from(JSON.stringify(status)) };
}

/** What a request was about that did not get far; what cannot be read is taken as it stands. */
function attributesOf({ method, url }: Exchange, user: User): Attributes {
  const [path = '', search = ''] = url.split('?', 2);
  const watch = new URLSearchParams(search).get('watch');
  const parts = path.split('/');
  return attributesOfPath({ user, method, path, parts, watch: watch === 'true' || watch === '1' });
}
