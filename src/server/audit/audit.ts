/**
 * The audit log: who asked for what, when, from where, and what became of it. A policy says which requests are noted and
 * how much of each (policy.ts, evaluator.ts; default-policy.ts where none is given), a record gathers what is known of a
 * request while it is served (event.ts), and backends take finished lines (log-file.ts, webhook.ts). The HTTP front end
 * opens and ends records; what a request means is not known here. Calls inside the process are not noted: they are the server's own work.
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { User } from '../api.ts';
import type { Attributes } from '../authz/authorizer.ts';
import { head } from '../metrics/text.ts';
import type { Memo } from '../request-memos.ts';
import { Evaluator } from './evaluator.ts';
import { AuditRecord, type Heard, type Sink } from './event.ts';
import { type Level, levels, type Policy } from './policy.ts';

/** Where events go. */
export interface Backend extends Sink {
  /** Events that it could not pass on, by which part of it gave up. */
  readonly lost: Readonly<Record<string, number>>;
}

export interface AuditOptions {
  readonly policy: Policy;
  readonly backends: readonly Backend[];
  readonly clock: Clock;
  readonly random: Random;
}

interface Asked {
  readonly client: Heard;
  /** Who sent the request; nobody, where that was not found out. */
  readonly sender: User | undefined;
  readonly attributes: Attributes;
  /** Of requests of its sort, where it is for objects. */
  readonly memo: Memo | undefined;
}

/** Longer ones, and those with strange characters, are not taken over from a client. */
const ACCEPTABLE_ID = /^[\x21-\x7e]{1,64}$/;

export class Audit {
  readonly #options: AuditOptions;
  readonly #evaluator: Evaluator;
  readonly #sink: Sink;
  readonly #levels: Record<Level, number> = { None: 0, Metadata: 0, Request: 0, RequestResponse: 0 };
  #events = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#evaluator = new Evaluator(options.policy);
    this.#sink = {
      write: (line) => {
        this.#events++;
        for (const backend of options.backends) backend.write(line);
      },
    };
  }

  /** Undefined where nothing is to be noted. */
  open({ client, sender, attributes, memo }: Asked): AuditRecord | undefined {
    const verdict = this.#evaluator.verdictOn(attributes, memo);
    this.#levels[verdict.level]++;
    if (verdict.level === 'None') return undefined;
    const { clock } = this.#options;
    return new AuditRecord({
      id: this.#idOf(client),
      verdict,
      heard: client,
      sender,
      attributes,
      clock,
      sink: this.#sink,
    });
  }

  /** What the request is known by: what its sender calls it, so that the logs of both can be laid side by side. */
  #idOf({ headers }: Heard): string {
    const given = headers['audit-id'];
    return typeof given === 'string' && ACCEPTABLE_ID.test(given) ? given : this.#options.random.uuid();
  }

  *lines(): Generator<string> {
    yield head('apiserver_audit_event_total', 'counter', 'Lines of the audit log.');
    yield `apiserver_audit_event_total ${this.#events}`;
    yield head('apiserver_audit_error_total', 'counter', 'Lines of the audit log that did not get where they should.');
    for (const { lost } of this.#options.backends) {
      for (const [plugin, count] of Object.entries(lost))
        yield `apiserver_audit_error_total{plugin="${plugin}"} ${count}`;
    }
    yield head('apiserver_audit_level_total', 'counter', 'Requests by how much is noted of them.');
    for (const level of levels) yield `apiserver_audit_level_total{level="${level}"} ${this.#levels[level]}`;
  }
}
