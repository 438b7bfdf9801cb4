import { addAll } from '../../../../base/collections/add-all.ts';
import type { KubeObject } from '../../../kind.ts';
import type { NodeSelectorTerm } from '../../../shapes/pod/scheduling/node-selector.ts';
import { termWarnings } from '../../../warnings/node-labels.ts';

const ANNOTATIONS: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};

const SOURCES = [
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

/** The part of a volume that gives reason for warnings. */
interface PersistentVolume extends KubeObject {
  spec: {
    persistentVolumeReclaimPolicy?: string;
    nodeAffinity?: { required?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
  } & { [source in (typeof SOURCES)[number][0]]?: object };
}

export function persistentVolumeWarnings({ metadata: { annotations }, spec }: PersistentVolume): string[] {
  const found: string[] = [];
  for (const key in ANNOTATIONS) {
    if (annotations?.[key] !== undefined) found.push(`metadata.annotations[${key}]: ${ANNOTATIONS[key]}`);
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const words =
      'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
    found.push(`spec.persistentVolumeReclaimPolicy: ${words}`);
  }
  spec.nodeAffinity?.required?.nodeSelectorTerms?.forEach((term, index) => {
    addAll(found, termWarnings(`spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, term));
  });
  for (const [field, words] of SOURCES) if (spec[field]) found.push(`spec.${field}: ${words}`);
  return found;
}
