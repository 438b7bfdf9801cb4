/** Finds the pods that match a map of labels without scanning all others. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Listers } from '../../loop/define.ts';
import { compiledLabels } from '../ownership.ts';

type Labels = Readonly<Record<string, string>>;

const NONE: readonly string[] = [];

function byLabel({ metadata }: DeepReadonly<Pod>): readonly string[] {
  const { namespace, labels } = metadata;
  return labels ? Object.entries(labels).map(([key, value]) => keyOf(namespace, key, value)) : NONE;
}

const keyOf = (namespace: string | undefined, key: string, value: string) => `${namespace}/${key}=${value}`;

/** Returns the pods of the namespace with all the labels; no labels match all. */
export function podsWith(labels: Labels, namespace: string, { of }: Listers): readonly DeepReadonly<Pod>[] {
  const [first, ...more] = Object.entries(labels);
  if (!first) return of(Pod).list(namespace);
  const pods = of(Pod).by(byLabel, keyOf(namespace, ...first));
  if (more.length === 0) return pods;
  const selector = compiledLabels(labels);
  return pods.filter(({ metadata }) => selector.matches(metadata.labels));
}

const isClaim = ({ persistentVolumeClaim, ephemeral }: NonNullable<SeenPod['spec']['volumes']>[number]) =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined;

/** The name of the claim of an ephemeral volume. */
export const ownClaim = (podName: string | undefined, volumeName: string) => `${podName}-${volumeName}`;

/** An index: pods by their claims, `namespace/name`, including those of ephemeral volumes. */
export const podsByClaim = ({ metadata, spec }: SeenPod): readonly string[] => {
  if (!spec.volumes?.some(isClaim)) return NONE;
  return spec.volumes.filter(isClaim).map(({ name, persistentVolumeClaim }) => {
    return `${metadata.namespace}/${persistentVolumeClaim?.claimName ?? ownClaim(metadata.name, name)}`;
  });
};

/** An index: pods by the name of their node. */
export const podsByNode = ({ spec }: DeepReadonly<Pod>): readonly string[] => (spec.nodeName ? [spec.nodeName] : NONE);
