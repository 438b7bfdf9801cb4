import type { Handle } from '../../../api/call.ts';
import { APIService } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import { splitApiVersion } from '../../../kinds/kind.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import type { Outbound } from '../../outbound/ports.ts';
import type { BackendRegistry } from '../backends/backend-registry.ts';
import { Aggregator } from './aggregator.ts';
import { AuthenticationConfig } from './authentication-config.ts';
import type { FrontProxy } from './front-proxy.ts';
import { LocalServices, REPLACEABLE_GROUP } from './local-services.ts';

type Ports = TransactionPorts & Outbound;

export interface AggregationOptions {
  readonly core: Ports;
  readonly handle: Handle;
  readonly backends: BackendRegistry;
  /** The groups and versions of built-in kinds. */
  readonly builtIn: ReadonlySet<string>;
}

export class Aggregation {
  readonly #local: LocalServices;
  readonly #aggregator: Aggregator;
  readonly #config: AuthenticationConfig;

  constructor({ core, handle, backends, builtIn }: AggregationOptions) {
    this.#local = new LocalServices(core, builtIn);
    this.#aggregator = new Aggregator({ core, handle, backends, builtInGroups: groupsOf(builtIn) });
    this.#config = new AuthenticationConfig(core, handle);
  }

  /** Reports whether a server has what aggregation requires. */
  static isServed({ registry }: Ports): boolean {
    return registry.resource(APIService.hub.apiVersion, APIService.plural) !== undefined;
  }

  /** Resolves when the APIServices of this server are reconciled. */
  start(): Promise<void> {
    return this.#local.start();
  }

  /** Sets the identity of this server towards others. Resolves when they can read it. */
  async identifyAs(identity: FrontProxy): Promise<void> {
    await this.#config.publish(identity);
    this.#aggregator.identifyAs(identity);
  }

  /** True while the APIServices of this server are reconciled. */
  get isRunning(): boolean {
    return this.#local.isRunning;
  }

  /** Missing APIServices of this server. */
  get unregistered(): readonly string[] {
    return this.#local.missing;
  }

  /** APIServices of this server that are not reported as available. */
  get withoutStatus(): readonly string[] {
    return this.#aggregator.withoutStatus;
  }

  /** APIServices of other servers to which requests are not forwarded. */
  get unfollowed(): readonly string[] {
    return this.#aggregator.unfollowed;
  }

  /** True when other servers can identify the users of requests. */
  get isIdentified(): boolean {
    return this.#aggregator.isIdentified;
  }

  close(): void {
    this.#local.close();
    this.#aggregator.close();
    this.#config.close();
  }
}

/** Returns the groups of built-in kinds, without the one that another server may replace. */
function groupsOf(builtIn: ReadonlySet<string>): ReadonlySet<string> {
  const groups = new Set([...builtIn].map((apiVersion) => splitApiVersion(apiVersion)[0]));
  groups.delete(REPLACEABLE_GROUP);
  return groups;
}
