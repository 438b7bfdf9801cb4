/** Updates the registry of kinds to match the custom resource definitions in the cache. */
import type { Handle } from '../../../api/call.ts';
import { parseWithout, type SkippedField } from '../../../base/json/json-scan.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { customKind, releaseSchemas } from '../../../kinds/custom/custom-kind.ts';
import { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Entry } from '../../objects/cache/entry/entry.ts';
import { parseStored } from '../../objects/cache/entry/stored-object.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { SERVER_USER } from '../../objects/server-user.ts';
import type { Writer } from '../../objects/transaction/ports.ts';
import type { Outbound } from '../../outbound/ports.ts';
import { Upkeep } from '../upkeep.ts';
import { webhookConversion } from './conversion-webhook.ts';
import type { Names, TakenNames } from './names.ts';
import {
  decideStatus,
  deleteObjects,
  isServed,
  isSettled,
  markedInProgress,
  needsCleanup,
  released,
} from './status.ts';

type Ports = Reader & Tools & Pick<Writer, 'stages'> & Outbound;

/** The parts of a definition that are kept in memory. */
interface Followed {
  readonly group: string;
  names: Names;
  /** Identifies the definition from which `kind` was created. */
  key: string;
  kind: Kind | undefined;
}

/** Delay that is longer than any request that began before the kind was replaced. */
const RELEASE_DELAY_MS = 90_000;

export class CustomKinds {
  readonly #builtIn: readonly Kind[];
  readonly #followed = new Map<string, Followed>();
  /** Reconciles the status of definitions, by name. */
  readonly #upkeep: Upkeep;

  /** Serves all definitions that are established. */
  constructor(
    private readonly core: Ports,
    private readonly handle: Handle,
  ) {
    const { cache, registry, clock } = core;
    const failure = 'the status of a custom resource definition could not be written';
    this.#upkeep = new Upkeep(core, { failure, reconcile: (name) => this.#reconcile(name) });
    this.#builtIn = [...registry.kinds];
    const table = cache.table(CustomResourceDefinition);
    // Names that were released before the start have been assigned to others since, or will be: those are not settled.
    const added = table.entries('').flatMap((entry) => this.#follow(entry, { isStart: true }).added);
    if (added.length > 0) registry.replace([], added);
    this.#upkeep.follow([CustomResourceDefinition], ({ entry, at }) => {
      const { removed, added } = entry ? this.#follow(entry) : this.#forget(at.name);
      if (removed.length > 0 || added.length > 0) registry.replace(removed, added);
      if (removed.length > 0) clock.timer(RELEASE_DELAY_MS, () => removed.forEach(releaseSchemas));
    });
  }

  get isRunning(): boolean {
    return this.#upkeep.isRunning;
  }

  /** Stored definitions that are not known here. */
  get unfollowed(): readonly string[] {
    const stored = [...this.core.cache.table(CustomResourceDefinition).entries('')];
    return stored.map(({ at }) => at.name).filter((name) => !this.#followed.has(name));
  }

  close(): void {
    this.#upkeep.close();
  }

  #follow(entry: Entry, { isStart = false } = {}): Changes {
    const definition = outline(entry);
    const { name } = entry.at;
    const { spec, status, metadata } = definition;
    const before = this.#followed.get(name);
    const followed: Followed = before ?? { group: spec.group, names: status.acceptedNames, key: '', kind: undefined };
    this.#followed.set(name, followed);
    followed.names = status.acceptedNames;
    // Reading a definition again takes time; after a start, hardly any must be checked.
    if (!isSettled(definition)) this.#upkeep.loop.add(name);
    const key = isServed(status) ? keyOf(definition) : '';
    if (key === followed.key) return NO_CHANGES;
    const removed = followed.kind ? [followed.kind] : [];
    followed.key = key;
    followed.kind = key ? this.#kindOf(definition, name) : undefined;
    if (metadata.deletionTimestamp === undefined && !isStart) this.#lookAtGroup(spec.group, name);
    return { removed, added: followed.kind ? [followed.kind] : [] };
  }

  #forget(name: string): Changes {
    const followed = this.#followed.get(name);
    if (!followed) return NO_CHANGES;
    this.#followed.delete(name);
    this.#lookAtGroup(followed.group, name);
    return { removed: followed.kind ? [followed.kind] : [], added: [] };
  }

  #kindOf(definition: CustomResourceDefinition, name: string): Kind {
    const { spec, status, metadata } = definition;
    const table = this.core.cache.table(CustomResourceDefinition);
    return customKind(spec, {
      names: status.acceptedNames,
      conversion: spec.conversion?.strategy === 'Webhook' ? webhookConversion(this.core, spec.conversion) : undefined,
      isTerminating: metadata.deletionTimestamp !== undefined,
      definition: () => {
        const entry = table.get('', name);
        return entry ? read(entry) : { spec: { ...spec, versions: [] } };
      },
    });
  }

  /** Checks the other definitions of the group, because a released name may be free for them. */
  #lookAtGroup(group: string, except: string): void {
    for (const [name, followed] of this.#followed)
      if (followed.group === group && name !== except) this.#upkeep.loop.add(name);
  }

  async #reconcile(name: string): Promise<void> {
    const entry = this.core.cache.table(CustomResourceDefinition).get('', name);
    if (!entry) return;
    // A write of the status does not change the schemas, which need not be read.
    const definition = outline(entry);
    if (needsCleanup(definition)) await this.#clean(definition, name);
    else if (!definition.metadata.deletionTimestamp) await this.#settle(definition, name);
  }

  async #settle(definition: CustomResourceDefinition, name: string): Promise<void> {
    const now = timestamp(this.core.clock.now());
    const status = decideStatus(definition, this.#takenBy(definition.spec.group, name), now);
    if (status === definition.status) return;
    const followed = this.#followed.get(name);
    // Others that are checked before the write has arrived must not get the same names.
    if (followed) followed.names = status.acceptedNames;
    await this.#write({ ...definition, status });
  }

  async #clean(definition: CustomResourceDefinition, name: string): Promise<void> {
    const { cache, clock } = this.core;
    const now = () => timestamp(clock.now());
    const kind = this.#followed.get(name)?.kind;
    const marked = markedInProgress(definition, now());
    if (marked) {
      await this.#write(marked);
      return;
    }
    if (!kind) return this.#write(released(definition, false, now()));
    const table = cache.table(kind);
    if (table.count('') > 0) {
      const isEmpty = new Promise<void>((resolve) => {
        const listener = () => {
          if (table.count('') > 0) return;
          table.listeners.delete(listener);
          resolve();
        };
        table.listeners.add(listener);
      });
      void isEmpty.then(() => this.#upkeep.loop.add(name));
      return deleteObjects(this.handle, kind, table);
    }
    await this.#write(released(definition, true, now()));
  }

  async #write(definition: CustomResourceDefinition & { metadata: object }): Promise<void> {
    const { name } = definition.metadata;
    await this.handle({
      verb: 'update',
      apiVersion: API_VERSION,
      plural: CustomResourceDefinition.plural,
      user: SERVER_USER,
      name: name ?? '',
      subresource: 'status',
      body: structuredClone(definition),
    });
  }

  #takenBy(group: string, except: string): TakenNames {
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const { plural, singular, short, kind, listKind, ...each } of this.#builtIn) {
      if (each.group !== group) continue;
      for (const name of [plural, singular, ...short]) resources.add(name);
      for (const name of [kind, listKind]) kinds.add(name);
    }
    for (const [name, followed] of this.#followed) {
      if (followed.group !== group || name === except) continue;
      const { plural, singular = '', shortNames = [], kind, listKind = '' } = followed.names;
      for (const each of [plural, singular, ...shortNames]) resources.add(each);
      for (const each of [kind, listKind]) kinds.add(each);
    }
    resources.delete('');
    kinds.delete('');
    return { resources, kinds };
  }
}

const API_VERSION = CustomResourceDefinition.hub.apiVersion;

interface Changes {
  readonly removed: readonly Kind[];
  readonly added: readonly Kind[];
}

const NO_CHANGES: Changes = { removed: [], added: [] };

/** Reads a definition without keeping it in the cache: it can be large, and is rarely needed. */
const read = (entry: Entry) => completed(parseStored(entry.stored) as CustomResourceDefinition, entry);

const LARGE: readonly SkippedField[] = [
  { name: 'schema', depth: 4 },
  { name: 'managedFields', depth: 2 },
];

/** Reads a definition without its schemas, which are nearly all of it. */
const outline = (entry: Entry) => completed(parseWithout(entry.stored, LARGE) as CustomResourceDefinition, entry);

function completed(definition: CustomResourceDefinition, entry: Entry): CustomResourceDefinition {
  definition.metadata.resourceVersion = String(entry.revision);
  definition.status ??= { acceptedNames: { plural: '', kind: '' } };
  definition.status.acceptedNames ??= { plural: '', kind: '' };
  return definition;
}

/** Returns a key that changes when another kind must be created. */
function keyOf({ metadata, status }: CustomResourceDefinition): string {
  const { uid, generation, deletionTimestamp } = metadata;
  return JSON.stringify([uid, generation, deletionTimestamp !== undefined, status.acceptedNames]);
}
