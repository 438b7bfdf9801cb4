import type { SeenContainer, SeenPod } from '../../pod/container-run.ts';
import { wrongHostAddress } from '../../pod/host-addresses.ts';
import type { Features } from './features.ts';

/** Why a runtime with these features cannot run a pod; undefined if it can. */
export function rejectionOf(pod: SeenPod, features: Features): string | undefined {
  const { spec } = pod;
  const wrong = wrongHostAddress(pod);
  if (wrong) return `hostIP ${JSON.stringify(wrong.hostIP)} of container ${wrong.container} is not an IP address`;
  const containers: readonly SeenContainer[] = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ];
  const images = (spec.volumes ?? []).filter(({ image }) => image !== undefined).map(({ name }) => name);
  const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts ?? []);
  const wanted: readonly (readonly [keyof Features, boolean, string])[] = [
    ['userNamespaces', spec.hostUsers === false, 'user namespaces (hostUsers: false)'],
    [
      'recursiveReadOnly',
      mounts.some(({ recursiveReadOnly }) => recursiveReadOnly === 'Enabled'),
      'recursive read-only mounts',
    ],
    [
      'strictSupplementalGroups',
      spec.securityContext?.supplementalGroupsPolicy === 'Strict',
      'supplementalGroupsPolicy: Strict',
    ],
    ['imageVolumes', images.length > 0, 'image volumes'],
    [
      'imageVolumeSubPaths',
      mounts.some(({ name, subPath, subPathExpr }) => images.includes(name) && Boolean(subPath || subPathExpr)),
      'a subPath of an image volume',
    ],
    ['stopSignals', containers.some(({ lifecycle }) => lifecycle?.stopSignal !== undefined), 'lifecycle.stopSignal'],
    [
      'hostPorts',
      spec.hostNetwork !== true && containers.some(({ ports }) => ports?.some(({ hostPort }) => hostPort)),
      'hostPort without iptables on the node',
    ],
  ];
  const missing = wanted.filter(([feature, isWanted]) => isWanted && features[feature] === false);
  if (missing.length === 0) return undefined;
  return `the runtime ${features.runtime} does not support ${missing.map(([, , what]) => what).join(' and ')}`;
}
