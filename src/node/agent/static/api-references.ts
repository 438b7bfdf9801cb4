/** References that a static pod may not have, because it runs without the API. */
import type { SeenPod } from '../../pod/container-run.ts';

type Volume = NonNullable<SeenPod['spec']['volumes']>[number];
type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** Returns the resource that the pod refers to, in the words of kubelet; undefined when there is none. */
export function apiReference({ spec }: SeenPod): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (spec.imagePullSecrets?.length) return 'secrets';
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const sources = containers.flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.map(({ secretRef, configMapRef }) => ({ secret: secretRef, configMap: configMapRef })),
    ...env.map(({ valueFrom }) => ({ secret: valueFrom?.secretKeyRef, configMap: valueFrom?.configMapKeyRef })),
  ]);
  if (sources.some(({ secret }) => secret)) return 'secrets';
  if (sources.some(({ configMap }) => configMap)) return 'configmaps';
  if (spec.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const found = referenceOfVolume(volume);
    if (found) return found;
  }
  return undefined;
}

function referenceOfVolume(volume: Volume): string | undefined {
  if (volume.configMap) return 'configmaps (via configmap volumes)';
  if (volume.secret) return 'secrets (via secret volumes)';
  if (volume.csi) return 'csidrivers (via CSI volumes)';
  if (volume.glusterfs) return 'endpoints (via glusterFS volumes)';
  if (volume.persistentVolumeClaim) return 'persistentvolumeclaims';
  if (volume.ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)';
  if (volume.azureFile) return 'secrets (via azureFile volumes)';
  return volume.projected?.sources?.map(referenceOfSource).find((found) => found !== undefined);
}

function referenceOfSource(source: ProjectedSource): string | undefined {
  if (source.configMap) return 'configmaps (via projected volumes)';
  if (source.secret) return 'secrets (via projected volumes)';
  if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
  if (source.clusterTrustBundle) return 'clustertrustbundles';
  return source.podCertificate ? 'podcertificates' : undefined;
}
