import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { APIService } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import { tooManyRequests } from '../../access/fairness/priority-and-fairness.ts';
import type {
  Backend,
  BackendSchemas,
  DiscoveredResource,
  ForwardedResponse,
  ForwardProxied,
  ProxiedRequest,
} from '../backend.ts';
import type { Exchange } from '../exchange.ts';
import { forward, replyUnavailable, serve, unavailable } from './forwarding/serve.ts';
import type { Transport } from './forwarding/transport.ts';
import { discoveredRows } from './published/discovery-rows.ts';
import { OpenApiDocuments } from './published/openapi-documents.ts';

/** Limit for requests waiting for one server, which may never answer; each holds memory. */
const MAX_WAITING_REQUESTS = 400;

export class ProxiedApi implements Backend {
  readonly apiVersion: string;
  /** The root path, such as `/apis/example.com/v1`. */
  readonly root: string;
  transport: Transport;
  isAvailable = false;
  spec: APIService['spec'];
  #rows: readonly DiscoveredResource[] = [];
  #body = Buffer.alloc(0);
  #isKnown = false;
  #waiting = 0;
  readonly #documents: OpenApiDocuments;

  /** `turns`: the turns of the event loop in which long documents are parsed. */
  constructor(spec: APIService['spec'], transport: Transport, turns: TurnBudget) {
    const { group = '', version = '' } = spec;
    this.apiVersion = group ? `${group}/${version}` : version;
    this.root = group ? `/apis/${group}/${version}` : `/api/${version}`;
    this.spec = spec;
    this.transport = transport;
    this.#documents = new OpenApiDocuments(this.root, turns);
  }

  get priority() {
    const { groupPriorityMinimum: group, versionPriority: version } = this.spec;
    return { group, version };
  }

  get isStale(): boolean {
    return !this.isAvailable || !this.#isKnown;
  }

  resources(): readonly DiscoveredResource[] {
    return this.#rows;
  }

  schemas(): Promise<BackendSchemas> {
    return this.#documents.schemas();
  }

  /** Adopts the list of resources that the server has published. Returns whether it changed. */
  learn(body: Buffer): boolean {
    if (this.#isKnown && body.equals(this.#body)) return false;
    this.#isKnown = true;
    this.#body = Buffer.from(body);
    this.#rows = discoveredRows(body);
    return true;
  }

  /** Refreshes the schemas. Resolves with true if they changed. */
  refreshSchemas(): Promise<boolean> {
    return this.#documents.refresh(this.transport);
  }

  readonly serving = {
    type: 'proxy',
    serve: async (exchange: Exchange, request: ProxiedRequest): Promise<void> => {
      if (!this.isAvailable) return replyUnavailable(exchange);
      const answered = this.#wait();
      const goesOn = () => {
        answered();
        request.goesOn();
      };
      try {
        await serve(exchange, { ...request, goesOn }, this.transport);
      } finally {
        answered();
      }
    },
    forward: async (request: Parameters<ForwardProxied>[0]): Promise<ForwardedResponse> => {
      if (!this.isAvailable) throw unavailable();
      const answered = this.#wait();
      try {
        return await forward(request, this.transport);
      } finally {
        answered();
      }
    },
  } as const;

  /** Counts a waiting request. Returns a function to be called when it no longer waits. */
  #wait(): () => void {
    if (this.#waiting >= MAX_WAITING_REQUESTS) throw tooManyRequests();
    this.#waiting++;
    let isWaiting = true;
    return () => {
      if (isWaiting) this.#waiting--;
      isWaiting = false;
    };
  }
}
