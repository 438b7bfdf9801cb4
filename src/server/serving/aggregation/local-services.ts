/**
 * Maintains an APIService for every group and version that this server serves itself. All of them are reconciled when a
 * server starts. After that, those of custom kinds are kept in the desired state. Those of built-in kinds are restored
 * when they are deleted or point to another server; changes of their priorities, which have no effect, stay until the
 * next start: servers of two releases on one store may differ.
 */
import { clone, deepEqual } from '../../../base/json/tree.ts';
import { APIService } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { objectsIn } from '../../objects/reads/lookup.ts';
import type { Mutation } from '../../objects/transaction/draft.ts';
import { OWN_DELETE, type OwnWrite, writeOwn } from '../../objects/transaction/own-writes.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { Upkeep } from '../../upkeep/upkeep.ts';
import { priorityOf } from '../backends/priorities.ts';

/** The label that tells when an APIService is managed. */
export const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
const ON_START = 'onstart';
const ALWAYS = 'true';

/** A group whose APIService may be replaced permanently by one of another server, such as metrics-server. */
export const REPLACEABLE_GROUP = 'metrics.k8s.io';

interface Wanted {
  readonly name: string;
  readonly label: string | undefined;
  readonly spec: APIService['spec'];
}

export class LocalServices {
  #upkeep: Upkeep | undefined;

  /** `builtIn`: the groups and versions of built-in kinds. */
  constructor(
    private readonly core: TransactionPorts,
    private readonly builtIn: ReadonlySet<string>,
  ) {}

  /** Reconciles all APIServices, and keeps them reconciled. */
  async start(): Promise<void> {
    await this.#write('start');
    const failure = 'the APIServices of this server could not be written';
    const upkeep = new Upkeep(this.core, { failure, reconcile: () => this.#write('change') });
    const wake = () => upkeep.loop.add('APIServices');
    upkeep.follow([APIService], wake);
    upkeep.atClose(this.core.registry.onChange(wake));
    this.#upkeep = upkeep;
  }

  get isRunning(): boolean {
    return this.#upkeep?.isRunning ?? false;
  }

  get missing(): readonly string[] {
    const table = this.core.cache.table(APIService);
    return [...this.#wantedByName()].flatMap(([name, { label }]) => (label && !table.get('', name) ? [name] : []));
  }

  close(): void {
    this.#upkeep?.close();
  }

  #write(reason: 'start' | 'change'): Promise<void> {
    return writeOwn(this.core, {
      withoutAdmission: 'the server keeps the APIServices of what it serves',
      plan: () => this.#writes(reason === 'start'),
    });
  }

  /** Returns the writes that make the APIServices match their desired state. */
  #writes(isStart: boolean): OwnWrite[] {
    const table = this.core.cache.table(APIService);
    const wanted = this.#wantedByName();
    const missing = [...wanted.values()].filter(({ name, label }) => (isStart || label) && !table.get('', name));
    const writes: OwnWrite[] = missing.map((each) =>
      writeOf(each.name, { type: 'create', object: () => objectOf(each) }),
    );
    for (const found of objectsIn(this.core, APIService, '')) {
      const { name = '', labels: own = {} } = found.metadata;
      const label = own[MANAGED_LABEL];
      const should = wanted.get(name);
      const isManaged = label === ALWAYS || (label === ON_START && isStart);
      // Manages APIServices of built-in kinds regardless of their label; users may take over those of custom kinds by
      // removing it.
      const isTaken = should?.label === ON_START && (label !== ON_START || isElsewhere(found));
      if (!isManaged && !isTaken) continue;
      if (!should) writes.push(writeOf(name, { type: 'delete', plan: OWN_DELETE }));
      else if (isTaken || !deepEqual(found.spec, should.spec)) writes.push(writeOf(name, replaced(should)));
    }
    return writes;
  }

  #wantedByName(): ReadonlyMap<string, Wanted> {
    const served = [...this.core.registry.apiVersions].filter((each) => splitApiVersion(each)[0] !== APIService.group);
    return new Map(served.map((each) => [nameOf(each), this.#wanted(each)]));
  }

  #wanted(apiVersion: string): Wanted {
    const [group, version] = splitApiVersion(apiVersion);
    const isBuiltIn = this.builtIn.has(apiVersion);
    const { group: groupPriorityMinimum, version: versionPriority } = priorityOf(apiVersion);
    return {
      name: nameOf(apiVersion),
      label: !isBuiltIn ? ALWAYS : group === REPLACEABLE_GROUP ? undefined : ON_START,
      spec: { group: group || undefined, version, groupPriorityMinimum, versionPriority },
    };
  }
}

const isElsewhere = ({ spec: { service, caBundle, insecureSkipTLSVerify } }: APIService) =>
  service !== undefined || caBundle !== undefined || insecureSkipTLSVerify === true;

function nameOf(apiVersion: string): string {
  const [group, version] = splitApiVersion(apiVersion);
  return `${version}.${group}`;
}

function writeOf(name: string, mutation: Mutation): OwnWrite {
  return { kind: APIService, namespace: '', name, mutation };
}

function objectOf({ name, label, spec }: Wanted): KubeObject {
  const labels = label === undefined ? {} : { labels: { [MANAGED_LABEL]: label } };
  const { apiVersion } = APIService.hub;
  return { apiVersion, kind: APIService.kind, metadata: { name, ...labels }, spec: { ...spec } } as KubeObject;
}

function replaced({ spec, label }: Wanted): Mutation {
  return {
    type: 'update',
    part: 'object',
    next: (current) => {
      const object = clone(current.hub(APIService)) as APIService;
      const { [MANAGED_LABEL]: _, ...others } = object.metadata.labels ?? {};
      const labels = label === undefined ? others : { ...others, [MANAGED_LABEL]: label };
      return { ...object, metadata: { ...object.metadata, labels }, spec: { ...spec } };
    },
  };
}
