/**
 * Follows the APIServices that name a Service: serves their groups and versions by forwarding requests, and checks
 * periodically whether the servers behind them are available.
 */

import type { Handle } from '../../../api/call.ts';
import { isApiError } from '../../../api/errors.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Timer } from '../../../base/time/clock.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { APIService, LOCAL_CONDITION } from '../../../kinds/groups/apiregistration/api-service.ts';
import { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Entry } from '../../objects/cache/entry.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { SERVER_USER } from '../../objects/server-user.ts';
import type { Outbound } from '../../outbound/ports.ts';
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
import type { FrontProxy } from './front-proxy.ts';
import { MANAGED_LABEL } from './local-services.ts';
import { ProxiedApi } from './proxied-api.ts';
import { type Reach, Transport } from './transport.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Tools & Outbound;

const CHECK_INTERVAL_MS = 30_000;
const CHECK_TIMEOUT_MS = 5000;
const MIN_RETRY_MS = 500;
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

/** An APIService that names a Service. */
interface Followed {
  readonly name: string;
  readonly api: ProxiedApi;
  /** Removes the backend. */
  readonly remove: () => void;
  timer: Timer | undefined;
  /** Number of consecutive failed checks. */
  failures: number;
  isChecking: boolean;
  /** True when something changed during a check. */
  isOutdated: boolean;
  schemasDue: number;
}

export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #stop: (() => void)[] = [];
  #identity: FrontProxy | undefined;

  constructor(options: AggregatorOptions) {
    this.#options = options;
    const { cache } = options.core;
    const table = cache.table(APIService);
    for (const entry of table.entries('')) this.#follow(entry);
    this.#listen(APIService, ({ entry, at }) => (entry ? this.#follow(entry) : this.#forget(at.name)));
    for (const kind of [Service, Endpoints]) this.#listen(kind, ({ at }) => this.#checkOf(at.namespace, at.name));
  }

  /** Sets the identity of this server towards others, initially and when its certificate is renewed. */
  identifyAs(identity: FrontProxy): void {
    this.#identity = identity;
    for (const followed of this.#followed.values()) {
      this.#reach(followed.api, followed.api.spec);
      this.#check(followed);
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
    const entries = [...this.#options.core.cache.table(APIService).entries('')];
    return entries.flatMap((entry) => (entry.failure(APIService) ? [] : [entry.hub(APIService) as APIService]));
  }

  close(): void {
    for (const stop of this.#stop) stop();
    for (const name of [...this.#followed.keys()]) this.#forget(name);
  }

  #listen(
    kind: Parameters<Ports['cache']['table']>[0],
    listener: (change: { readonly entry: Entry | undefined; readonly at: { namespace: string; name: string } }) => void,
  ): void {
    const { listeners } = this.#options.core.cache.table(kind);
    listeners.add(listener);
    this.#stop.push(() => listeners.delete(listener));
  }

  #follow(entry: Entry): void {
    const { name } = entry.at;
    const object = entry.hub(APIService) as APIService;
    const { spec } = object;
    if (!spec.service) {
      this.#forget(name);
      const condition = conditionOf(object);
      if (condition?.reason !== LOCAL_CONDITION.reason || condition.status !== LOCAL_CONDITION.status) {
        void this.#write(name, LOCAL_CONDITION);
      }
      return;
    }
    if (this.#isOwn(object)) {
      this.#forget(name);
      void this.#write(name, ownGroup(spec.group ?? ''));
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
    if (isReordered || isOther) this.#options.backends.changed();
    if (isMoved) this.#check(followed);
  }

  /**
   * Reports whether this server itself serves the group, or manages the APIService: no request for it is forwarded, not
   * even until the APIService is restored.
   */
  #isOwn({ metadata, spec }: APIService): boolean {
    const label = metadata.labels?.[MANAGED_LABEL];
    return this.#options.builtInGroups.has(spec.group ?? '') || label === 'onstart' || label === 'true';
  }

  #begin(name: string, spec: APIService['spec'], isAvailable: boolean): void {
    const { core, backends } = this.#options;
    const api = new ProxiedApi(spec, new Transport(core, reachOf(spec), this.#identity), core.turns);
    api.isAvailable = isAvailable;
    const remove = backends.addInstead(api);
    const followed: Followed = {
      ...{ name, api, remove, timer: undefined, failures: 0 },
      ...{ isChecking: false, isOutdated: false, schemasDue: 0 },
    };
    this.#followed.set(name, followed);
    this.#check(followed);
  }

  #forget(name: string): void {
    const followed = this.#followed.get(name);
    if (!followed) return;
    this.#followed.delete(name);
    followed.timer?.cancel();
    followed.remove();
    followed.api.transport.close();
  }

  #reach(api: ProxiedApi, spec: APIService['spec']): void {
    api.transport.close();
    api.transport = new Transport(this.#options.core, reachOf(spec), this.#identity);
  }

  /** Checks the APIServices of a Service. */
  #checkOf(namespace: string, service: string): void {
    for (const followed of this.#followed.values()) {
      const { service: own } = followed.api.spec;
      if (own?.name === service && own.namespace === namespace) this.#check(followed);
    }
  }

  #check(followed: Followed): void {
    followed.timer?.cancel();
    if (followed.isChecking) {
      followed.isOutdated = true;
      return;
    }
    followed.isChecking = true;
    void this.#perform(followed).finally(() => {
      followed.isChecking = false;
      if (this.#followed.get(followed.name) !== followed) return;
      if (followed.isOutdated) {
        followed.isOutdated = false;
        this.#check(followed);
        return;
      }
      const { failures } = followed;
      const delay =
        failures === 0 ? CHECK_INTERVAL_MS : Math.min(MIN_RETRY_MS * 2 ** (failures - 1), CHECK_INTERVAL_MS);
      followed.timer = this.#options.core.clock.timer(delay, () => this.#check(followed));
    });
  }

  async #perform(followed: Followed): Promise<void> {
    const { core, backends } = this.#options;
    const { api, name } = followed;
    try {
      const finding = findingOfService(core, api.transport.service) ?? (await this.#ask(followed));
      const isCurrent = () => this.#followed.get(name) === followed;
      if (!isCurrent()) return;
      followed.failures = finding === PASSED ? 0 : followed.failures + 1;
      await this.#write(name, finding);
      if (finding !== PASSED || core.clock.now() < followed.schemasDue) return;
      followed.schemasDue = core.clock.now() + SCHEMAS_INTERVAL_MS;
      if ((await api.refreshSchemas()) && isCurrent()) backends.changed();
    } catch (error) {
      followed.failures++;
      core.log.warn('an APIService could not be checked', { name, error });
    }
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
      if (api.learn(body)) this.#options.backends.changed();
      return PASSED;
    } catch (error) {
      return failedCheck(url, (error as AggregateError).errors.at(-1).message);
    }
  }

  async #write(name: string, finding: Finding): Promise<void> {
    const { core, handle } = this.#options;
    const object = objectNamed(core, APIService, '', name);
    if (!object) return;
    const before = conditionOf(object);
    if (isSameFinding(before, finding)) return;
    const isSame = before?.status === finding.status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = isSame ? before.lastTransitionTime : timestamp(core.clock.now());
    try {
      await handle({
        ...{ verb: 'patch', apiVersion: APIService.hub.apiVersion, plural: APIService.plural, name },
        ...{ subresource: 'status', patchType: 'strategic', user: SERVER_USER },
        body: { status: { conditions: [{ ...finding, lastTransitionTime }] } },
      });
    } catch (error) {
      if (!isApiError(error, 'NotFound'))
        core.log.warn('the status of an APIService could not be written', { name, error });
    }
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
