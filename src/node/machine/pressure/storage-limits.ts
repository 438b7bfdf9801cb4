/** Pods that write more than they may: they are evicted, however much the node has left. */
import { formatQuantity, parseQuantity, scaled } from '../../../base/quantity.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { podAmounts } from '../../../kinds/quota/pods.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PodUsage } from '../../volumes/volumes.ts';

const STORAGE = 'ephemeral-storage';

/** The message of the eviction; undefined when the pod stays within its limits. `written` includes the layers of containers. */
export function storageExcess(pod: SeenPod, written: PodUsage): string | undefined {
  return volumeExcess(pod, written) ?? podExcess(pod, written) ?? containerExcess(pod, written);
}

function volumeExcess({ spec }: SeenPod, { volumes }: PodUsage): string | undefined {
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    if (limit === undefined || bytesOf(limit) === 0 || (volumes.get(name) ?? 0) <= bytesOf(limit)) continue;
    return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
  }
  return undefined;
}

/** All containers together, with the volumes that live as long as the pod. */
function podExcess(pod: SeenPod, { volumes, shared, containers }: PodUsage): string | undefined {
  const isLimited = pod.spec.containers.some(({ resources }) => resources?.limits?.[STORAGE] !== undefined);
  const limit = podAmounts(pod as Pod, 'limits').get(STORAGE);
  if (!isLimited || !limit) return undefined;
  const inVolumes = (pod.spec.volumes ?? []).filter(isLocal);
  const local = inVolumes.reduce((sum, { name }) => sum + (volumes.get(name) ?? 0), shared);
  const all = [...containers.values()].reduce((sum, bytes) => sum + bytes, local);
  if (all <= Number(scaled(limit, 0))) return undefined;
  const total = limitText(pod);
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. `;
}

function containerExcess({ spec }: SeenPod, { containers }: PodUsage): string | undefined {
  for (const { name, resources } of [...spec.containers, ...(spec.initContainers ?? [])]) {
    const limit = resources?.limits?.[STORAGE];
    if (limit === undefined || bytesOf(limit) === 0 || (containers.get(name) ?? 0) <= bytesOf(limit)) continue;
    return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
  }
  return undefined;
}

type Volume = NonNullable<SeenPod['spec']['volumes']>[number];
/** As with kubelet, what is in memory does not count: Secrets, tokens and the downward API, too. */
const isLocal = ({ emptyDir, configMap }: Volume) =>
  (emptyDir !== undefined && emptyDir.medium !== 'Memory') || configMap !== undefined;
const bytesOf = (text: string) => Number(scaled(parseQuantity(text), 0));
const limitText = (pod: SeenPod) => formatQuantity(podAmounts(pod as Pod, 'limits').get(STORAGE)!);
