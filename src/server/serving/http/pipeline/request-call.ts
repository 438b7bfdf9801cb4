import type { Call, CallOptions, PatchType } from '../../../../api/call.ts';
import type { ParameterValues } from '../../../../api/parameters.ts';
import type { PastParameters } from '../../../../api/past.ts';
import type { User } from '../../../../api/user.ts';
import type { Verb } from '../../../../kinds/kind.ts';
import type { Exchange } from '../../exchange.ts';
import type { Route } from '../route/route.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';

export interface RequestContent {
  readonly body?: unknown;
  readonly duplicates?: readonly string[] | undefined;
  readonly patchType?: PatchType;
}

export const NO_CONTENT: RequestContent = Object.freeze({});

interface CallSource {
  readonly exchange: Exchange;
  readonly verb: Verb;
  readonly route: Route;
  readonly user: User;
  readonly parameters?: ParameterValues | undefined;
  readonly past?: PastParameters | undefined;
  readonly lifecycle: Pick<RequestLifecycle, 'requestId'>;
}

/** A call of the API that was made over HTTP. */
export class RequestCall implements Call {
  readonly verb: Verb;
  readonly user: User;
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly path?: string;
  readonly options?: CallOptions;
  readonly parameters?: ParameterValues;
  readonly past?: PastParameters;
  readonly body?: unknown;
  readonly duplicates?: readonly string[];
  readonly patchType?: PatchType;
  readonly #exchange: Exchange;
  readonly #lifecycle: CallSource['lifecycle'];

  constructor(source: CallSource, options: CallOptions | undefined, content: RequestContent) {
    const { exchange, verb, route, user } = source;
    this.#exchange = exchange;
    this.#lifecycle = source.lifecycle;
    this.verb = verb;
    this.user = user;
    this.apiVersion = route.resource.version.apiVersion;
    this.plural = route.resource.kind.plural;
    if (route.namespace !== undefined) this.namespace = route.namespace;
    if (route.name !== undefined && verb !== 'watch') this.name = route.name;
    if (route.subresource) {
      this.subresource = route.subresource.name;
      if (route.path !== undefined) this.path = route.path;
      const { parameters } = source;
      if (parameters) this.parameters = parameters;
    }
    const { past } = source;
    if (past) this.past = past;
    if (options) this.options = options;
    if (content === NO_CONTENT) return;
    if (content.body !== undefined) this.body = content.body;
    if (content.duplicates) this.duplicates = content.duplicates;
    if (content.patchType) this.patchType = content.patchType;
  }

  get userAgent(): string | undefined {
    return this.#exchange.headers['user-agent'];
  }

  /** Created on first use: only writes need it. */
  get requestId(): string {
    return this.#lifecycle.requestId;
  }

  /** Created on first use: few verbs wait for anything. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}
