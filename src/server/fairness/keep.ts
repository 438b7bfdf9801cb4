/**
 * Keeps the default schemas and levels in order, at a start and whenever somebody changes one: what is missing is made,
 * and what follows the defaults gets them. An object whose annotation says `false`, or that a person has changed, is left
 * alone. Says in every schema's status whether its level is there.
 */

import { timestamp } from '../../base/timestamp.ts';
import { deepEqual } from '../../base/tree.ts';
import { FlowSchema } from '../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { StoreConflict, type Write } from '../../store/store.ts';
import { encode } from '../cache/encoding.ts';
import { keyOf } from '../cache/keys.ts';
import type { Core } from '../core.ts';
import { defaultLevels, defaultSchemas } from './defaults.ts';

const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec';

type Keeper = Pick<Core, 'store' | 'cache' | 'clock' | 'random'>;
type Stored = KubeObject & { spec: any; status: { conditions?: Condition[] } };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** Resolves when everything is in order and can be read. */
export async function keepDefaults(core: Keeper): Promise<void> {
  for (;;) {
    const writes = [...changes(core, PriorityLevelConfiguration, defaultLevels), ...schemaChanges(core)];
    if (writes.length === 0) return;
    try {
      await core.cache.reached(await core.store.commit(writes));
      return;
    } catch (error) {
      // Another server does the same, or somebody wrote: what is left to do is seen when those writes are.
      if (!(error instanceof StoreConflict)) throw error;
      await core.cache.fresh();
    }
  }
}

function changes(core: Keeper, kind: Kind, wanted: ReadonlyMap<string, object>): Write[] {
  return [...wanted].flatMap(([name, spec]) => {
    const key = keyOf(kind, '', name);
    const entry = core.cache.entry(key);
    if (!entry) return [{ key, value: encode(created(core, kind, { name, spec })), expect: 0 }];
    const found = entry.hub(kind) as Stored;
    if (!followsDefaults(found) || deepEqual(found.spec, spec)) return [];
    return [{ key, value: encode({ ...stripped(found), spec } as Stored), expect: entry.revision }];
  });
}

/** A level called exempt may have been given numbers of its own, which its annotation says. */
function followsDefaults({ metadata }: KubeObject): boolean {
  const said = metadata.annotations?.[AUTOUPDATE];
  return said === undefined ? metadata.generation === 1 : said === 'true';
}

function schemaChanges(core: Keeper): Write[] {
  const made = changes(core, FlowSchema, defaultSchemas);
  const known = new Set(made.map(({ key }) => key));
  const rest = core.cache
    .table(FlowSchema)
    .entries('')
    .flatMap((entry): Write[] => {
      if (known.has(entry.at.key)) return [];
      const found = entry.hub(FlowSchema) as Stored;
      const condition = dangling(core, found.spec);
      const before = found.status.conditions?.find(({ type }) => type === 'Dangling');
      if (before?.status === condition.status && before.message === condition.message) return [];
      const others = found.status.conditions?.filter((each) => each !== before) ?? [];
      const object = { ...stripped(found), status: { ...found.status, conditions: [...others, condition] } };
      return [{ key: entry.at.key, value: encode(object), expect: entry.revision }];
    });
  return [...made, ...rest];
}

function created(core: Keeper, kind: Kind, { name, spec }: { name: string; spec: object }): KubeObject {
  const metadata = {
    name,
    uid: core.random.uuid(),
    generation: 1,
    creationTimestamp: timestamp(core.clock.now()),
    annotations: { [AUTOUPDATE]: 'true' },
  };
  const status = kind === FlowSchema ? { conditions: [dangling(core, spec)] } : {};
  return { kind: kind.kind, apiVersion: kind.hub.apiVersion, metadata, spec, status } as KubeObject;
}

function dangling(core: Keeper, spec: any): Condition {
  const { name } = spec.priorityLevelConfiguration as { name: string };
  const isThere = defaultLevels.has(name) || core.cache.table(PriorityLevelConfiguration).get('', name) !== undefined;
  const named = `This FlowSchema references the PriorityLevelConfiguration object named "${name}"`;
  return {
    type: 'Dangling',
    status: isThere ? 'False' : 'True',
    lastTransitionTime: timestamp(core.clock.now()),
    reason: isThere ? 'Found' : 'NotFound',
    message: isThere ? `${named} and it exists` : `${named} but there is no such object`,
  };
}

/** As it is stored: what the server puts in when it serves the object is left out. */
function stripped(found: Stored): Stored {
  const { resourceVersion: _, selfLink: __, ...metadata } = found.metadata;
  return { ...found, metadata } as Stored;
}
