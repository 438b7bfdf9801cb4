/** Looks names up that are not the cluster's, at the name servers of the host. */
import type { Clock } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import { Flag, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import type { Question, Response } from '../../../protocols/dns-message/message.ts';
import { nameBytes } from '../../../protocols/dns-message/name.ts';
import { writeMessage } from '../../../protocols/dns-message/write.ts';
import { AnswerCache, type UpstreamAnswer } from './answer-cache.ts';
import { type Exchange, exchange as exchangeWith, type Server } from './exchange.ts';

export interface Lookup {
  readonly question: Question;
  readonly wantsDnssec: boolean;
  readonly checkingDisabled: boolean;
  /** Address of the client, for its share of the lookups. */
  readonly client: string;
}

/** `refused`: there is no upstream server. `busy`: too many lookups are in progress. */
export type LookupResult = UpstreamAnswer | 'refused' | 'busy';

export interface ForwarderOptions extends Pick<Tools, 'clock' | 'random'> {
  /** The servers for a name in the order of preference. */
  readonly servers: (name: string) => Promise<readonly (string | Server)[]>;
  /** Replaces the exchange in tests. */
  readonly exchange?: (clock: Clock, query: Exchange) => Promise<Response>;
}

const DNS_PORT = 53;
/** Clients give up after five seconds: all attempts together take less. */
const ATTEMPT_TIMEOUT_MS = 1_500;
const MAX_ATTEMPTS = 3;
/** A server that failed is asked after the others for this time. */
const AVOID_MS = 5_000;
const MAX_LOOKUPS = 1_000;
/** Limit per client, so that one client cannot take all lookups. */
const MAX_LOOKUPS_PER_CLIENT = 250;
/** Queries of a client that wait for an equal lookup. */
const MAX_WAITING_PER_CLIENT = 1_000;
/** Maximum size of datagrams: larger ones may be fragmented on their way. */
const UDP_SIZE = 1_232;
const MAX_ID = 65_536;

export class Forwarder {
  #cache: AnswerCache;
  /** Lookups in progress, by their key: equal ones wait for the same response. */
  readonly #pending = new Map<string, Promise<LookupResult>>();
  readonly #perClient = new Map<string, number>();
  readonly #waitingPerClient = new Map<string, number>();
  readonly #failedAt = new Map<string, number>();

  constructor(private readonly options: ForwarderOptions) {
    this.#cache = new AnswerCache(options.clock);
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Forgets all answers: other servers may have others. */
  forget(): void {
    this.#cache = new AnswerCache(this.options.clock);
  }

  /** Returns the remembered answer; undefined when a lookup is necessary. */
  remembered(lookup: Lookup): UpstreamAnswer | undefined {
    return this.#cache.get(keyOf(lookup));
  }

  /** Resolves always: with the code SERVFAIL when no server answers. */
  lookup(lookup: Lookup): Promise<LookupResult> {
    const key = keyOf(lookup);
    const known = this.#cache.get(key);
    if (known) return Promise.resolve(known);
    const pending = this.#pending.get(key);
    const { client } = lookup;
    if (pending) return this.#waitFor(pending, client);
    const ofClient = this.#perClient.get(client) ?? 0;
    if (this.#pending.size >= MAX_LOOKUPS || ofClient >= MAX_LOOKUPS_PER_CLIENT) return Promise.resolve('busy');
    this.#perClient.set(client, ofClient + 1);
    const cache = this.#cache;
    const work = this.#ask(lookup)
      .then((result) => {
        if (typeof result !== 'string') cache.put(key, result);
        return result;
      })
      .finally(() => {
        this.#pending.delete(key);
        countDown(this.#perClient, client);
      });
    this.#pending.set(key, work);
    return work;
  }

  #waitFor(pending: Promise<LookupResult>, client: string): Promise<LookupResult> {
    const waiting = this.#waitingPerClient.get(client) ?? 0;
    if (waiting >= MAX_WAITING_PER_CLIENT) return Promise.resolve('busy');
    this.#waitingPerClient.set(client, waiting + 1);
    return pending.finally(() => countDown(this.#waitingPerClient, client));
  }

  async #ask(lookup: Lookup): Promise<LookupResult> {
    const { clock, random, exchange = exchangeWith } = this.options;
    const servers = this.#inOrder(await this.options.servers(lookup.question.name).catch(() => []));
    if (servers.length === 0) return 'refused';
    let last: UpstreamAnswer = FAILED;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const server = servers[attempt % servers.length]!;
      const id = random.int(MAX_ID);
      const query = { server, id, question: lookup.question, message: queryFor(lookup, id) };
      try {
        const response = await exchange(clock, { ...query, timeoutMs: ATTEMPT_TIMEOUT_MS });
        last = answerOf(response);
        if (isConclusive(response.code)) {
          this.#failedAt.delete(keyOfServer(server));
          return last;
        }
        // Every server has answered with a failure.
        if (attempt + 1 >= servers.length) return last;
      } catch {
        this.#failedAt.set(keyOfServer(server), clock.now());
      }
    }
    return last;
  }

  #inOrder(servers: readonly (string | Server)[]): Server[] {
    const all = servers.map((each) => (typeof each === 'string' ? { address: each, port: DNS_PORT } : each));
    const now = this.options.clock.now();
    for (const [key, at] of this.#failedAt) if (now - at >= AVOID_MS) this.#failedAt.delete(key);
    const failed = (server: Server) => this.#failedAt.has(keyOfServer(server));
    return [...all.filter((each) => !failed(each)), ...all.filter(failed)];
  }
}

function countDown(counts: Map<string, number>, client: string): void {
  const left = (counts.get(client) ?? 1) - 1;
  if (left > 0) counts.set(client, left);
  else counts.delete(client);
}

const FAILED: UpstreamAnswer = {
  code: ResponseCode.SERVFAIL,
  isAuthentic: false,
  answers: [],
  authorities: [],
  additionals: [],
};

const keyOfServer = ({ address, port }: Server) => `${address} ${port}`;

function keyOf({ question: { name, type, class: itsClass }, wantsDnssec, checkingDisabled }: Lookup): string {
  return `${name} ${type} ${itsClass} ${Number(wantsDnssec)}${Number(checkingDisabled)}`;
}

/** Reports whether the code is final. With other codes the server could not find out; another one may. */
function isConclusive(code: number): boolean {
  return code === ResponseCode.NOERROR || code === ResponseCode.NXDOMAIN;
}

function answerOf({ code, flags, answers, authorities, additionals }: Response): UpstreamAnswer {
  return { code, isAuthentic: (flags & Flag.AUTHENTIC_DATA) !== 0, answers, authorities, additionals };
}

function queryFor({ question, wantsDnssec, checkingDisabled }: Lookup, id: number): Buffer {
  const fixed = Buffer.allocUnsafe(4);
  fixed.writeUInt16BE(question.type, 0);
  fixed.writeUInt16BE(question.class, 2);
  return writeMessage(
    {
      id,
      flags: Flag.RECURSION_DESIRED | Flag.AUTHENTIC_DATA | (checkingDisabled ? Flag.CHECKING_DISABLED : 0),
      code: ResponseCode.NOERROR,
      questionBytes: Buffer.concat([nameBytes(question.name), fixed]),
      questionName: question.name,
      answers: [],
      authorities: [],
      additionals: [],
      edns: { udpSize: UDP_SIZE, dnssecOk: wantsDnssec },
    },
    UDP_SIZE,
  );
}
