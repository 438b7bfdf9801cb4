/** How a new agent finds what runs, and what other tools show: the labels and annotations that kubelet uses. */
import { withoutUndefined } from '../../base/json/tree.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';

const POD_NAME = 'io.kubernetes.pod.name';
const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
const POD_UID = 'io.kubernetes.pod.uid';
const CONTAINER_NAME = 'io.kubernetes.container.name';
const CONTAINER_HASH = 'io.kubernetes.container.hash';
const RESTART_COUNT = 'io.kubernetes.container.restartCount';

const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
const PRE_STOP = 'io.kubernetes.container.preStopHandler';
const PORTS = 'io.kubernetes.container.ports';
const DELETION_GRACE = 'io.kubernetes.pod.deletionGracePeriod';
const TERMINATION_GRACE = 'io.kubernetes.pod.terminationGracePeriod';

type Texts = Record<string, string>;

/** With the labels of the pod, which CNI plugins and tools on the node look at. */
export function sandboxLabels(pod: SeenPod): Texts {
  return { ...pod.metadata.labels, ...identity(pod) };
}

export function sandboxAnnotations({ metadata }: SeenPod): Texts {
  return { ...metadata.annotations };
}

export function containerLabels(pod: SeenPod, { name }: SeenContainer): Texts {
  return { ...identity(pod), [CONTAINER_NAME]: name };
}

/** Returns the annotations needed to stop a container whose pod is gone. */
export function containerAnnotations(pod: SeenPod, container: SeenContainer, attempt: number): Texts {
  const { deletionGracePeriodSeconds: deletion } = pod.metadata;
  const { terminationGracePeriodSeconds: termination } = pod.spec;
  const preStop = container.lifecycle?.preStop;
  return withoutUndefined({
    [CONTAINER_HASH]: containerHash(container),
    [RESTART_COUNT]: String(attempt),
    [TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? '',
    [TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? '',
    [DELETION_GRACE]: deletion === undefined ? undefined : String(deletion),
    [TERMINATION_GRACE]: termination === undefined ? undefined : String(termination),
    [PRE_STOP]: preStop ? JSON.stringify(preStop) : undefined,
    [PORTS]: container.ports?.length ? JSON.stringify(container.ports) : undefined,
  });
}

/** Differs when the container must be made anew: when its image was changed, the only field that can be. */
export function containerHash({ name, image }: Pick<SeenContainer, 'name' | 'image'>): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(JSON.stringify({ name, image }))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16);
}

function identity({ metadata: { name = '', namespace = '', uid = '' } }: SeenPod): Texts {
  return { [POD_NAME]: name, [POD_NAMESPACE]: namespace, [POD_UID]: uid };
}
