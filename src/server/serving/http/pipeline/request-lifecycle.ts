import type { CallOptions } from '../../../../api/call.ts';
import { ApiError, type Status } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import type { Work } from '../../../../base/event-loop/watchdog.ts';
import type { LogFields } from '../../../../base/log.ts';
import type { Random } from '../../../../base/random.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { Audit } from '../../../access/audit/audit.ts';
import type { AuditRecord, RequestOutcome } from '../../../access/audit/event.ts';
import { requestIdOf } from '../../../access/audit/request-id.ts';
import { attributesOfPath } from '../../../access/authz/attributes.ts';
import type { Attributes } from '../../../access/authz/authorizer.ts';
import type { FlowControl, Seat } from '../../../access/fairness/flow-control.ts';
import type { Memo, RequestMemos } from '../../../access/request-memos.ts';
import { type Exchange, NO_HEADERS } from '../../exchange.ts';
import { Deadline, type Deadlines } from '../deadlines.ts';
import { Disconnected } from '../errors.ts';
import { isForeseen, statusOf } from '../respond/respond.ts';
import type { Route } from '../route/route.ts';

export interface LifecycleOptions {
  readonly audit: Audit | undefined;
  readonly flowControl: FlowControl | undefined;
  readonly deadlines: Deadlines;
  readonly memos: RequestMemos;
  readonly random: Pick<Random, 'uuid'>;
  /** Responds to a request after its timeout. */
  readonly onTimeout: (exchange: Exchange, error: ApiError) => Promise<void>;
}

const NO_USER: User = { name: '', groups: [] };
const NO_ATTRIBUTES: Attributes = { user: NO_USER, verb: '', path: '' };
const NO_OPTIONS: CallOptions = {};

const MAX_LOGGED_URL_LENGTH = 200;

const timeout = () => new ApiError('Timeout', 'Timeout: request did not complete within the allotted timeout');

const CLOSED_EARLY: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  message: 'Connection closed early',
  code: 200,
};

/**
 * The state of a request from arrival to end: its deadline, its audit record and its seat. It is itself the argument of
 * the audit log and of flow control, since one is created for every request.
 */
export class RequestLifecycle extends Deadline implements Work {
  readonly work = 'request';
  readonly client: Exchange;
  attributes: Attributes = NO_ATTRIBUTES;
  memo: Memo | undefined;
  kind: Kind | undefined;
  options: CallOptions = NO_OPTIONS;
  /** The sender of the request, once it is known. */
  sender: User | undefined;
  /** The audit record; undefined if the audit policy excludes the request. */
  record: AuditRecord | undefined;
  readonly #options: LifecycleOptions;
  #seat: Seat | undefined;
  /** True while others use the seat. */
  #isPaused = false;
  #isAudited = false;
  #outcome: RequestOutcome | undefined;
  #requestId: string | undefined;

  constructor(exchange: Exchange, options: LifecycleOptions) {
    super();
    this.client = exchange;
    this.#options = options;
    options.deadlines.set(this);
  }

  /** Shortens the timeout, for a client that does not wait as long. 0: the client leaves it to the server. */
  limit(milliseconds: number): void {
    if (milliseconds > 0) this.#options.deadlines.shorten(this, milliseconds);
  }

  /** Audit: records the attributes of the request. */
  audit(attributes: Attributes, route?: Route, options: CallOptions = NO_OPTIONS): void {
    const { user, verb } = attributes;
    const isOwn = user === this.sender;
    this.attributes = attributes;
    this.options = options;
    this.kind = route?.resource.kind;
    if (route && isOwn) this.memo = this.#options.memos.memo(user, verb, route);
    if (!this.#options.audit) return;
    this.#openRecord();
    if (!isOwn) this.record?.impersonating(user);
  }

  /** Flow control: takes a seat. Returns undefined if one is free at once. Throws, or rejects with, TooManyRequests. */
  takeSeat(): Promise<void> | undefined {
    const { flowControl } = this.#options;
    if (!flowControl) return undefined;
    const seat = flowControl.admit(this);
    if (seat instanceof Promise) return seat.then((later) => this.#takeSeatLate(later));
    this.#hold(seat);
    return undefined;
  }

  /** Identifies the request: as the audit log does, if it records it. */
  get requestId(): string {
    this.#requestId ??= this.record?.id ?? requestIdOf(this.client, this.#options.random);
    return this.#requestId;
  }

  /** Lets other requests use the seat while this one waits for its client. */
  async releaseSeatWhile<T>(waiting: Promise<T>): Promise<T> {
    this.#seat?.pause();
    this.#isPaused = true;
    try {
      return await waiting;
    } finally {
      this.#takeSeatAgain();
    }
  }

  /** Sets the result that is recorded when the request completes. */
  setOutcome(outcome: RequestOutcome): void {
    this.#outcome = outcome;
  }

  /** Records the start of a streaming response, which has neither deadline nor seat. */
  startStreaming(code: number): void {
    this.#options.deadlines.clear(this);
    this.#release();
    this.record?.started(code);
  }

  complete(): void {
    this.#options.deadlines.clear(this);
    this.#release();
    this.record?.ended(this.#outcome ?? { code: this.client.code });
    if (this.client.hasUnsentResponse) this.#options.deadlines.set(new UnsentResponse(this.client));
  }

  /** Records a request that failed before it reached `audit`. */
  auditFailure(): void {
    if (!this.#options.audit || this.#isAudited) return;
    this.attributes = attributesOf(this.client, this.sender ?? NO_USER);
    this.#openRecord();
  }

  fail(error: unknown): void {
    if (this.record) this.#outcome = outcomeOf(error);
    this.complete();
  }

  /**
   * Makes an unauthenticated client queue behind other clients from the same address before it gets its 401, and drops
   * it when too many of them wait. Returns undefined when no delay is needed.
   */
  delayUnauthenticated(): Promise<void> | undefined {
    const { flowControl } = this.#options;
    const { address } = this.client.peer;
    if (this.sender || !flowControl) return undefined;
    if (!flowControl.isOverloadedBy(address)) return flowControl.delayUnauthenticated(address, 1);
    this.client.abort();
    return undefined;
  }

  describe(): LogFields {
    const { method, url } = this.client;
    const { user, verb, ...target } = this.attributes;
    const about = 'resource' in target ? { resource: target.resource, namespace: target.namespace } : {};
    return { method, url: url.slice(0, MAX_LOGGED_URL_LENGTH), verb, ...about, user: user.name };
  }

  override expire(): void {
    // A response that another server began and does not finish cannot become an error any more.
    if (this.client.code !== 0) {
      this.client.abort();
      return;
    }
    const error = timeout();
    void this.#options.onTimeout(this.client, error).then(() => this.record?.ended(outcomeOf(error)));
  }

  #openRecord(): void {
    this.#isAudited = true;
    const { sender, attributes, client } = this;
    // The policy's rules match the sender, even when it impersonates another user.
    const isImpersonated = sender !== undefined && attributes.user !== sender;
    const audited = isImpersonated
      ? { client, sender, attributes: { ...attributes, user: sender }, memo: undefined }
      : this;
    this.record = this.#options.audit?.open(audited);
    if (this.record) client.responseHeaders = ['Audit-ID', this.record.id];
  }

  /** Releases the seat of a client that has disconnected: its body would never arrive. */
  #takeSeatLate(seat: Seat): void {
    this.#hold(seat);
    if (this.client.isDisconnected) throw new Disconnected('the client disconnected while its request waited');
  }

  #hold(seat: Seat): void {
    this.#seat = seat;
    const { responseHeaders } = this.client;
    this.client.responseHeaders = responseHeaders === NO_HEADERS ? seat.headers : [...responseHeaders, ...seat.headers];
  }

  #takeSeatAgain(): void {
    if (this.#isPaused) this.#seat?.resume();
    this.#isPaused = false;
  }

  #release(): void {
    this.#takeSeatAgain();
    const seat = this.#seat;
    this.#seat = undefined;
    seat?.release();
  }
}

/** Aborts a response that the client has not read in time. */
class UnsentResponse extends Deadline {
  constructor(private readonly exchange: Exchange) {
    super();
  }

  override expire(): void {
    if (this.exchange.hasUnsentResponse) this.exchange.abort();
  }
}

function outcomeOf(error: unknown): RequestOutcome {
  if (error instanceof Disconnected) return { code: CLOSED_EARLY.code, status: CLOSED_EARLY };
  const status = statusOf(error);
  return { code: status.code, status, panic: !isForeseen(error), body: () => Buffer.from(JSON.stringify(status)) };
}

/** Returns the attributes of a request that failed early. Parts that cannot be parsed are used unchanged. */
function attributesOf({ method, url }: Exchange, user: User): Attributes {
  const [path = '', search = ''] = url.split('?', 2);
  const watch = new URLSearchParams(search).get('watch');
  const parts = path.split('/');
  return attributesOfPath({ user, method, path, parts, watch: watch === 'true' || watch === '1' });
}
