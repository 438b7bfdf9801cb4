import { clone, deepEqual } from '../../../base/json/tree.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { defaultLevels, defaultSchemas } from '../../access/fairness/defaults.ts';
import type { FlowControl } from '../../access/fairness/flow-control.ts';
import { MaxInFlight } from '../../access/fairness/max-in-flight.ts';
import { PriorityAndFairness } from '../../access/fairness/priority-and-fairness.ts';
import { type OwnWrite, writeOwn } from '../../objects/transaction/own-writes.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { Upkeep } from '../upkeep.ts';

export interface FlowControlSettings {
  /** True for API Priority and Fairness; otherwise only the number of concurrent requests is limited. */
  readonly priorityAndFairness: boolean;
  /** Limits for concurrent requests. Their sum is the number of seats of all priority levels together. */
  readonly maxReading: number;
  readonly maxMutating: number;
  /** Timeout of a request, a quarter of which it may wait for a seat. */
  readonly requestTimeoutMs: number;
}

/** Resolves when the default FlowSchemas and PriorityLevelConfigurations are up to date. */
export async function createFlowControl(core: TransactionPorts, settings: FlowControlSettings): Promise<FlowControl> {
  const { priorityAndFairness, maxReading, maxMutating, requestTimeoutMs } = settings;
  if (!priorityAndFairness) return new MaxInFlight({ maxReading, maxMutating });
  const { cache, clock } = core;
  await ensureDefaultObjects(core);
  return new PriorityAndFairness({
    cache,
    clock,
    seats: maxReading + maxMutating,
    maxWaitMs: requestTimeoutMs / 4,
    nextTurn: (task) => void setImmediate(task),
  });
}

export function keepFlowControl(core: TransactionPorts): Upkeep {
  const upkeep = new Upkeep(core, {
    failure: 'the default flow schemas and priority levels could not be updated',
    reconcile: () => ensureDefaultObjects(core),
  });
  const wake = () => upkeep.loop.add('default objects');
  upkeep.follow([FlowSchema, PriorityLevelConfiguration], wake);
  // They may have changed before they were followed.
  wake();
  return upkeep;
}

const AUTOUPDATE_ANNOTATION = 'apf.kubernetes.io/autoupdate-spec';

type Configuration = KubeObject & { spec: object };
type Condition = NonNullable<FlowSchema['status']['conditions']>[number];

/**
 * Resolves when the default objects are up to date and can be read: missing ones are created, and those that follow the
 * defaults are reset to them. An object whose annotation is `false`, or that was changed before there was an annotation,
 * is left alone. Also sets the condition Dangling of every flow schema.
 */
function ensureDefaultObjects(core: TransactionPorts): Promise<void> {
  return writeOwn(core, {
    withoutAdmission: 'the server keeps its default flow schemas and priority levels',
    plan: () => [
      ...specWrites(core, PriorityLevelConfiguration, defaultLevels),
      ...specWrites(core, FlowSchema, defaultSchemas),
      ...statusWrites(core),
    ],
  });
}

function specWrites(core: TransactionPorts, kind: Kind, defaults: ReadonlyMap<string, object>): OwnWrite[] {
  return [...defaults].flatMap(([name, spec]): OwnWrite[] => {
    const entry = core.cache.table(kind).get('', name);
    if (!entry) return [createOf(kind, name, spec)];
    if (entry.failure(kind)) return [];
    const found = entry.hub(kind) as Configuration;
    if (!followsDefaults(found) || deepEqual(found.spec, spec)) return [];
    return [updateOf(kind, name, spec)];
  });
}

function createOf(kind: Kind, name: string, spec: object): OwnWrite {
  const head = { kind: kind.kind, apiVersion: kind.hub.apiVersion };
  const object = () => ({
    ...head,
    metadata: { name, annotations: { [AUTOUPDATE_ANNOTATION]: 'true' } },
    spec: clone(spec),
  });
  return { kind, namespace: '', name, mutation: { type: 'create', object } };
}

function updateOf(kind: Kind, name: string, spec: object): OwnWrite {
  const mutation: OwnWrite['mutation'] = {
    type: 'update',
    part: 'object',
    next(current) {
      const object = clone(current.hub(kind)) as Configuration;
      // An update raises the generation, which without the annotation would look like a change by a client.
      object.metadata.annotations = { [AUTOUPDATE_ANNOTATION]: 'true', ...object.metadata.annotations };
      object.spec = clone(spec);
      return object;
    },
  };
  return { kind, namespace: '', name, mutation };
}

/** Reports whether an object follows the defaults: without an annotation, as long as its generation is 1. */
function followsDefaults({ metadata }: KubeObject): boolean {
  const autoupdate = metadata.annotations?.[AUTOUPDATE_ANNOTATION];
  return autoupdate === undefined ? metadata.generation === 1 : autoupdate === 'true';
}

function statusWrites(core: TransactionPorts): OwnWrite[] {
  return core.cache
    .table(FlowSchema)
    .entries('')
    .flatMap((entry): OwnWrite[] => {
      if (entry.failure(FlowSchema)) return [];
      const found = entry.hub(FlowSchema) as FlowSchema;
      const condition = danglingCondition(core, found);
      const before = found.status.conditions?.find(({ type }) => type === condition.type);
      if (before && before.status === condition.status && before.message === condition.message) return [];
      return [statusUpdateOf(entry.at.name, condition)];
    });
}

function statusUpdateOf(name: string, condition: Condition): OwnWrite {
  const mutation: OwnWrite['mutation'] = {
    type: 'update',
    part: 'status',
    next(current) {
      const schema = clone(current.hub(FlowSchema)) as FlowSchema;
      const others = schema.status.conditions?.filter(({ type }) => type !== condition.type) ?? [];
      schema.status = { ...schema.status, conditions: [...others, condition] };
      return schema;
    },
  };
  return { kind: FlowSchema, namespace: '', name, mutation };
}

/** Returns the condition that tells whether the priority level of a schema is missing. */
function danglingCondition({ cache, clock }: TransactionPorts, { spec }: FlowSchema): Condition {
  const { name } = spec.priorityLevelConfiguration;
  const exists = cache.table(PriorityLevelConfiguration).get('', name) !== undefined;
  const named = `This FlowSchema references the PriorityLevelConfiguration object named "${name}"`;
  return {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    lastTransitionTime: timestamp(clock.now()),
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${named} and it exists` : `${named} but there is no such object`,
  };
}
