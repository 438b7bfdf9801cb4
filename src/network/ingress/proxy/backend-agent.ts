/** Opens and keeps connections to backends. Each goes to an address that was checked. */
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { BackendAddress } from '../config.ts';

/** Options of a request that the agent gets as well. */
export interface BackendRequestOptions extends ClientRequestArgs {
  readonly mayBeOwn: BackendAddress['mayBeOwn'];
}

type Created = (error: Error | null, socket: Duplex) => void;

export class BackendAgent extends Agent {
  #guard: DialGuard;

  constructor(guard: DialGuard, options: AgentOptions) {
    super(options);
    this.#guard = guard;
  }

  /** Checks new connections by another guard. */
  guardBy(guard: DialGuard): void {
    this.#guard = guard;
  }

  override createConnection(options: ClientRequestArgs, done?: Created): Duplex | null | undefined {
    const { mayBeOwn = false } = options as BackendRequestOptions;
    const allowance = { own: mayBeOwn };
    try {
      this.#guard.checkHost(options.host ?? '', allowance);
    } catch (error) {
      // As if the connection had failed.
      (done as (error: Error) => void)(error as Error);
      return undefined;
    }
    return super.createConnection({ ...options, lookup: this.#guard.lookup(allowance) }, done);
  }
}
