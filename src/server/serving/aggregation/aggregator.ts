/**
 * Follows the APIServices that name a Service: serves their groups and versions by forwarding requests, and checks
 * periodically whether the servers behind them are available.
 */

import type { Handle } from '../../../api/call.ts';
import { isLostRace } from '../../../api/errors.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { APIService, LOCAL_CONDITION } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import type { Entry } from '../../objects/cache/entry/entry.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { SERVER_USER } from '../../objects/server-user.ts';
import type { Outbound } from '../../outbound/ports.ts';
import { Upkeep } from '../../upkeep/upkeep.ts';
import type { BackendRegistry } from '../backends/backend-registry.ts';
import {
  AVAILABLE,
  type Finding,
  failedCheck,
  findingOfService,
  isSameFinding,
  ownGroup,
  PASSED,
} from './availability.ts';
import { type Reach, Transport } from './forwarding/transport.ts';
import type { FrontProxy } from './front-proxy.ts';
import { MANAGED_LABEL } from './local-services.ts';
import { ProxiedApi } from './proxied-api.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Tools & Outbound;

const CHECK_INTERVAL_MS = 30_000;
const CHECK_TIMEOUT_MS = 5000;
const BACKOFF = { base: 500, max: CHECK_INTERVAL_MS, jitter: 0 };
/** Number of APIServices that are checked concurrently: each check may take its whole timeout. */
const WORKERS = 50;
const MAX_LIST_BYTES = 1024 * 1024;
/** Number of endpoints to try: a server has several, and one that answers is enough. */
const CHECK_ATTEMPTS = 5;
/** Interval of fetching schemas, which costs more than checking. */
const SCHEMAS_INTERVAL_MS = 60_000;

export interface AggregatorOptions {
  readonly core: Ports;
  readonly handle: Handle;
  readonly backends: BackendRegistry;
  /** Groups that this server never leaves to another one. */
  readonly builtInGroups: ReadonlySet<string>;
}

/** An APIService that is not available: it is checked again with back-off. */
class Unavailable extends Error {}

interface Followed {
  readonly api: ProxiedApi;
  readonly remove: () => void;
  schemasDue: number;
}

export class Aggregator {
  readonly #followed = new Map<string, Followed>();
  /** Checks APIServices, by name, and writes their status. */
  readonly #upkeep: Upkeep;
  #identity: FrontProxy | undefined;

  constructor(private readonly options: AggregatorOptions) {
    const { core } = options;
    this.#upkeep = new Upkeep(core, {
      workers: WORKERS,
      backoff: BACKOFF,
      failure: 'an APIService could not be checked',
      isExpected: (error) => error instanceof Unavailable || isLostRace(error),
      reconcile: (name) => this.#reconcile(name),
    });
    for (const entry of core.cache.table(APIService).entries('')) this.#follow(entry);
    this.#upkeep.follow([APIService], ({ entry, at }) => (entry ? this.#follow(entry) : this.#forget(at.name)));
    this.#upkeep.follow([Service, Endpoints], ({ at }) => this.#checkOf(at.namespace, at.name));
  }

  /** Sets the identity of this server towards others, initially and when its certificate is renewed. */
  identifyAs(identity: FrontProxy): void {
    this.#identity = identity;
    for (const [name, { api }] of this.#followed) {
      this.#reach(api, api.spec);
      this.#upkeep.loop.add(name);
    }
  }

  get isIdentified(): boolean {
    return this.#identity !== undefined;
  }

  /** The names of APIServices of this server whose condition is not `Available`. */
  get withoutStatus(): readonly string[] {
    return this.#services().flatMap((object) =>
      object.spec.service || conditionOf(object)?.status === 'True' ? [] : [object.metadata.name ?? ''],
    );
  }

  /** The names of APIServices of other servers that are not followed. */
  get unfollowed(): readonly string[] {
    return this.#services().flatMap((object) => {
      const { name = '' } = object.metadata;
      return !object.spec.service || this.#isOwn(object) || this.#followed.has(name) ? [] : [name];
    });
  }

  #services(): readonly APIService[] {
    const entries = [...this.options.core.cache.table(APIService).entries('')];
    return entries.flatMap((entry) => (entry.failure(APIService) ? [] : [entry.hub(APIService) as APIService]));
  }

  close(): void {
    this.#upkeep.close();
    for (const name of [...this.#followed.keys()]) this.#forget(name);
  }

  #follow(entry: Entry): void {
    const { name } = entry.at;
    const object = entry.hub(APIService) as APIService;
    const { spec } = object;
    const finding = this.#findingOfOwn(object);
    if (finding) {
      this.#forget(name);
      const { status, reason } = conditionOf(object) ?? {};
      if (status !== finding.status || reason !== finding.reason) this.#upkeep.loop.add(name);
      return;
    }
    const isAvailable =
      conditionOf(object)?.status === 'True' && conditionOf(object)?.reason !== LOCAL_CONDITION.reason;
    const followed = this.#followed.get(name);
    if (!followed) {
      this.#begin(name, spec, isAvailable);
      return;
    }
    const { api } = followed;
    const before = api.spec;
    const isMoved = !deepEqual(reachOf(before), reachOf(spec));
    const isReordered = !deepEqual(priorityOf(before), priorityOf(spec));
    const isOther = api.isAvailable !== isAvailable;
    api.spec = spec;
    api.isAvailable = isAvailable;
    if (isMoved) this.#reach(api, spec);
    if (isReordered || isOther) this.options.backends.changed();
    if (isMoved) this.#upkeep.loop.add(name);
  }

  /** Returns the finding about an APIService that is not forwarded; undefined for one of another server. */
  #findingOfOwn(object: APIService): Finding | undefined {
    if (!object.spec.service) return LOCAL_CONDITION;
    return this.#isOwn(object) ? ownGroup(object.spec.group ?? '') : undefined;
  }

  /** Reports whether this server itself serves the group, or manages the APIService: nothing of it is forwarded. */
  #isOwn({ metadata, spec }: APIService): boolean {
    const label = metadata.labels?.[MANAGED_LABEL];
    return this.options.builtInGroups.has(spec.group ?? '') || label === 'onstart' || label === 'true';
  }

  #begin(name: string, spec: APIService['spec'], isAvailable: boolean): void {
    const { core, backends } = this.options;
    const api = new ProxiedApi(spec, new Transport(core, reachOf(spec), this.#identity), core.turns);
    api.isAvailable = isAvailable;
    const remove = backends.addInstead(api);
    this.#followed.set(name, { api, remove, schemasDue: 0 });
    this.#upkeep.loop.add(name);
  }

  #forget(name: string): void {
    const followed = this.#followed.get(name);
    if (!followed) return;
    this.#followed.delete(name);
    followed.remove();
    followed.api.transport.close();
  }

  #reach(api: ProxiedApi, spec: APIService['spec']): void {
    api.transport.close();
    api.transport = new Transport(this.options.core, reachOf(spec), this.#identity);
  }

  #checkOf(namespace: string, service: string): void {
    for (const [name, { api }] of this.#followed) {
      const { service: own } = api.spec;
      if (own?.name === service && own.namespace === namespace) this.#upkeep.loop.add(name);
    }
  }

  async #reconcile(name: string): Promise<void> {
    const { core, backends } = this.options;
    const object = objectNamed(core, APIService, '', name);
    if (!object) return;
    const known = this.#findingOfOwn(object);
    if (known) return this.#write(name, known);
    const followed = this.#followed.get(name);
    if (!followed) return;
    const { api } = followed;
    const finding = findingOfService(core, api.transport.service) ?? (await this.#ask(followed));
    const isCurrent = () => this.#followed.get(name) === followed;
    if (!isCurrent()) return;
    await this.#write(name, finding);
    if (finding !== PASSED) throw new Unavailable(finding.message);
    if (core.clock.now() >= followed.schemasDue) {
      followed.schemasDue = core.clock.now() + SCHEMAS_INTERVAL_MS;
      if ((await api.refreshSchemas()) && isCurrent()) backends.changed();
    }
    this.#upkeep.loop.addAfter(name, CHECK_INTERVAL_MS);
  }

  /** Requests the resources of the group and version, which every server must list. */
  async #ask({ api }: Followed): Promise<Finding> {
    const { transport, root } = api;
    const url = `https://${transport.host}${root}`;
    const attempt = async () => {
      const options = { accept: 'application/json', maxBytes: MAX_LIST_BYTES, timeoutMs: CHECK_TIMEOUT_MS };
      const { code, body } = await transport.fetch(root, options).catch((error: Error) => {
        throw new Error(`Get ${JSON.stringify(url)}: ${error.message}`, { cause: error });
      });
      if (code < 200 || code > 299) throw new Error(`bad status from ${url}: ${code}`);
      return body;
    };
    try {
      const attempts = Math.min(transport.endpoints(), CHECK_ATTEMPTS);
      const body = await Promise.any(Array.from({ length: Math.max(attempts, 1) }, attempt));
      if (api.learn(body)) this.options.backends.changed();
      return PASSED;
    } catch (error) {
      return failedCheck(url, (error as AggregateError).errors.at(-1).message);
    }
  }

  async #write(name: string, finding: Finding): Promise<void> {
    const { core, handle } = this.options;
    const object = objectNamed(core, APIService, '', name);
    if (!object) return;
    const before = conditionOf(object);
    if (isSameFinding(before, finding)) return;
    const isSame = before?.status === finding.status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = isSame ? before.lastTransitionTime : timestamp(core.clock.now());
    await handle({
      verb: 'patch',
      apiVersion: APIService.hub.apiVersion,
      plural: APIService.plural,
      name,
      subresource: 'status',
      patchType: 'strategic',
      user: SERVER_USER,
      body: { status: { conditions: [{ ...finding, lastTransitionTime }] } },
    });
  }
}

function conditionOf({ status }: APIService) {
  return status?.conditions?.find(({ type }) => type === AVAILABLE);
}

function reachOf({ service, caBundle, insecureSkipTLSVerify }: APIService['spec']): Reach {
  return { service, caBundle, insecureSkipTLSVerify };
}

function priorityOf({ groupPriorityMinimum, versionPriority }: APIService['spec']) {
  return [groupPriorityMinimum, versionPriority];
}
