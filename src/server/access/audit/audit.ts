import type { User } from '../../../api/user.ts';
import { head } from '../../../base/metrics/text.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Attributes } from '../authz/authorizer.ts';
import type { Memo } from '../request-memos.ts';
import { Evaluator } from './evaluator.ts';
import { type AuditedRequest, AuditRecord, type Sink } from './event.ts';
import { type Level, levels, type Policy } from './policy.ts';
import { requestIdOf } from './request-id.ts';

/** A destination for events. */
export interface Backend extends Sink {
  /** Number of dropped events, by the part that dropped them. */
  readonly dropped: Readonly<Record<string, number>>;
}

export interface AuditOptions extends Pick<Tools, 'clock' | 'random'> {
  readonly policy: Policy;
  readonly backends: readonly Backend[];
}

interface Opening {
  readonly client: AuditedRequest;
  /** The sender of the request; undefined if it could not be authenticated. */
  readonly sender: User | undefined;
  readonly attributes: Attributes;
  /** The memo for requests of this sort, if the request is for objects. */
  readonly memo: Memo | undefined;
}

export class Audit {
  readonly #evaluator: Evaluator;
  readonly #sink: Sink;
  readonly #levels: Record<Level, number> = { None: 0, Metadata: 0, Request: 0, RequestResponse: 0 };
  #events = 0;

  constructor(private readonly options: AuditOptions) {
    this.#evaluator = new Evaluator(options.policy);
    this.#sink = {
      write: (line) => {
        this.#events++;
        for (const backend of options.backends) backend.write(line);
      },
    };
  }

  /** Starts a record; undefined if the policy excludes the request. */
  open({ client, sender, attributes, memo }: Opening): AuditRecord | undefined {
    const verdict = this.#evaluator.verdictOn(attributes, memo);
    this.#levels[verdict.level]++;
    if (verdict.level === 'None') return undefined;
    const { clock } = this.options;
    return new AuditRecord({
      id: requestIdOf(client, this.options.random),
      verdict,
      request: client,
      sender,
      attributes,
      clock,
      sink: this.#sink,
    });
  }

  *lines(): Generator<string> {
    yield head('apiserver_audit_event_total', 'counter', 'Number of audit events.');
    yield `apiserver_audit_event_total ${this.#events}`;
    yield head('apiserver_audit_error_total', 'counter', 'Number of audit events that could not be delivered.');
    for (const { dropped } of this.options.backends) {
      for (const [plugin, count] of Object.entries(dropped))
        yield `apiserver_audit_error_total{plugin="${plugin}"} ${count}`;
    }
    yield head('apiserver_audit_level_total', 'counter', 'Number of requests by audit level.');
    for (const level of levels) yield `apiserver_audit_level_total{level="${level}"} ${this.#levels[level]}`;
  }
}
