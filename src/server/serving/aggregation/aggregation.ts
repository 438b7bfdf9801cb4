import { APIService } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import { splitApiVersion } from '../../../kinds/kind.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import type { Outbound } from '../../outbound/ports.ts';
import { Aggregator, type AggregatorOptions } from './aggregator.ts';
import { AuthenticationConfig } from './authentication-config.ts';
import type { FrontProxy } from './front-proxy.ts';
import { LocalServices, REPLACEABLE_GROUP } from './local-services.ts';

type Ports = TransactionPorts & Outbound;

export interface AggregationOptions extends Omit<AggregatorOptions, 'core' | 'builtInGroups'> {
  readonly core: Ports;
  /** The groups and versions of built-in kinds. */
  readonly builtIn: ReadonlySet<string>;
}

export class Aggregation {
  /** The APIServices of what this server serves. */
  readonly local: LocalServices;
  /** Those of other servers. */
  readonly others: Aggregator;
  readonly #config: AuthenticationConfig;

  constructor({ core, handle, backends, builtIn }: AggregationOptions) {
    this.local = new LocalServices(core, builtIn);
    this.others = new Aggregator({ core, handle, backends, builtInGroups: groupsOf(builtIn) });
    this.#config = new AuthenticationConfig(core, handle);
  }

  /** Reports whether a server has what aggregation requires. */
  static isServed({ registry }: Ports): boolean {
    return registry.resource(APIService.hub.apiVersion, APIService.plural) !== undefined;
  }

  /** Resolves when the APIServices of this server are reconciled. */
  start(): Promise<void> {
    return this.local.start();
  }

  /** Sets the identity of this server towards others. Resolves when they can read it. */
  async identifyAs(identity: FrontProxy): Promise<void> {
    await this.#config.publish(identity);
    this.others.identifyAs(identity);
  }

  close(): void {
    this.local.close();
    this.others.close();
    this.#config.close();
  }
}

/** Returns the groups of built-in kinds, without the one that another server may replace. */
function groupsOf(builtIn: ReadonlySet<string>): ReadonlySet<string> {
  const groups = new Set([...builtIn].map((apiVersion) => splitApiVersion(apiVersion)[0]));
  groups.delete(REPLACEABLE_GROUP);
  return groups;
}
