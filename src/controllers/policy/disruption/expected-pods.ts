/** Counts expected pods: the sum of the sizes of the controllers of a budget's pods. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KindRef } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { controllerOf } from '../../../client/informer/object-cache.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import { type Kind, splitApiVersion } from '../../../kinds/kind.ts';
import type { Listers, ReadTools } from '../../loop/define.ts';
import type { KindsOptions } from '../../shared/aggregated-kinds.ts';

/** The counts of a budget are 32-bit integers, and so is the size of every owner. */
const MAX_INT32 = 2 ** 31 - 1;
const OWNERS_PER_TURN = 100;

type Owner = NonNullable<ReturnType<typeof controllerOf>>;

/** Sizes of owners without an informer, by UID; or the error. */
export type OtherScales = ReadonlyMap<string, number | string>;

export type Expected =
  | { readonly count: number; readonly unmanaged: readonly string[] }
  /** Why it cannot be determined. */
  | { readonly problem: string };

/** Kinds with an informer. */
export const SCALED: readonly KindRef[] = [Deployment, ReplicaSet, ReplicationController, StatefulSet];

export function expectedPods(pods: readonly SeenPod[], others: OtherScales, world: Listers): Expected {
  const scales = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner) {
      unmanaged.push(pod.metadata.name ?? '');
      continue;
    }
    const found = scaleOf(owner, pod, world) ?? others.get(owner.uid);
    if (found === undefined) return { problem: `found no controllers for pod ${JSON.stringify(pod.metadata.name)}` };
    if (typeof found === 'string') return { problem: found };
    if (typeof found === 'number') scales.set(owner.uid, found);
    else scales.set(found.uid, found.count);
  }
  const count = [...scales.values()].reduce((sum, each) => sum + each, 0);
  return { count: Math.min(count, MAX_INT32), unmanaged };
}

/** Returns the size of the pod's controller: for a ReplicaSet of a Deployment, the size of the Deployment. */
function scaleOf(owner: Owner, pod: SeenPod, { of }: Listers): { uid: string; count: number } | undefined {
  const kind = SCALED.find((each) => each !== Deployment && isOf(owner, each));
  const found = kind && of(kind).get(owner.name, pod.metadata.namespace);
  if (!found || found.metadata.uid !== owner.uid) return undefined;
  const above = controllerOf(found);
  if (kind === ReplicaSet && above && isOf(above, Deployment)) {
    const deployment = of(Deployment).get(above.name, pod.metadata.namespace);
    if (deployment?.metadata.uid === above.uid) return { uid: above.uid, count: deployment.spec.replicas ?? 1 };
  }
  return { uid: owner.uid, count: found.spec.replicas ?? 1 };
}

const isOf = (owner: Pick<Owner, 'apiVersion' | 'kind'>, kind: KindRef) =>
  owner.kind === kind.kind && splitApiVersion(owner.apiVersion)[0] === kind.group;

/** Reads the sizes of owners of other kinds. */
export async function observeOthers(pods: readonly SeenPod[], lookup: ReadTools & KindsOptions): Promise<OtherScales> {
  const out = new Map<string, number | string>();
  let served: ReadonlyMap<string, Kind> | undefined;
  let asked = 0;
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || out.has(owner.uid) || SCALED.some((kind) => isOf(owner, kind))) continue;
    served ??= kindsByVersion(lookup.kinds());
    const kind = served.get(`${owner.apiVersion} ${owner.kind}`);
    if (!kind) continue;
    out.set(owner.uid, await ask(kind, owner.name, pod, lookup));
    // Direct calls never leave the turn of the event loop.
    if (++asked % OWNERS_PER_TURN === 0) await nextTurn();
  }
  return out;
}

function kindsByVersion(kinds: Iterable<Kind>): ReadonlyMap<string, Kind> {
  const out = new Map<string, Kind>();
  for (const kind of kinds) for (const { apiVersion } of kind.versions) out.set(`${apiVersion} ${kind.kind}`, kind);
  return out;
}

async function ask(
  kind: Kind,
  name: string,
  { metadata }: SeenPod,
  { client, signal }: ReadTools,
): Promise<number | string> {
  const plural = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  if (!kind.subresources?.scale) return `${plural} does not implement the scale subresource`;
  const scale = await client.of(kind).in(metadata.namespace).scale(name, { signal });
  return scale.replicas;
}
