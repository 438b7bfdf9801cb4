/** Finds nodes on which a volume can be provisioned. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenNode } from '../../../api/seen-objects.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { NODE } from '../../../kinds/volumes/node-directory.ts';
import type { Listers } from '../../loop/define.ts';

/** The state that plans are made from. */
export interface World extends Listers {
  /** Read from the server where the cache does not have it. */
  nodeNamed(name: string): SeenNode | undefined;
}

/** Reports whether new volumes may be placed on the node. */
export function isHealthy({ spec, status }: SeenNode): boolean {
  return !spec.unschedulable && (status.conditions?.some(isReady) ?? false);
}

const isReady = ({ type, status }: { readonly type: string; readonly status: string }) =>
  type === 'Ready' && status === 'True';

/** An index: volumes by their node. */
export const directoriesByNode = ({ metadata }: DeepReadonly<PersistentVolume>): readonly string[] => {
  const node = metadata.labels?.[NODE];
  return node ? [node] : [];
};

/** Returns the healthy node with the fewest volumes, for a claim with immediate binding. */
export function anyNode({ of }: World, { allowedTopologies }: DeepReadonly<StorageClass>): SeenNode | undefined {
  let best: { readonly node: SeenNode; readonly volumes: number } | undefined;
  for (const node of of(Node).list()) {
    if (!isHealthy(node) || !isAllowed(node, allowedTopologies)) continue;
    const volumes = of(PersistentVolume).by(directoriesByNode, node.metadata.name ?? '').length;
    if (!best || volumes < best.volumes) best = { node, volumes };
  }
  return best?.node;
}

function isAllowed(
  { metadata: { labels } }: SeenNode,
  terms: DeepReadonly<StorageClass>['allowedTopologies'],
): boolean {
  if (!terms?.length) return true;
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values?.includes(labels?.[key] ?? '') ?? false),
  );
}
