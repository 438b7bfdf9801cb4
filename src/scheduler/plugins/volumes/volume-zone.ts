/** A volume with zone or region labels can be used only there. */
import { classNameOf } from '../../../kinds/volumes/binding.ts';
import { type Plugin, type PreFilterResult, rejection, SKIP } from '../../framework/plugin.ts';
import type { Volume } from '../../objects.ts';
import { mayHaveMoved, ownClaim } from './volume-matching.ts';

const NO_ZONE = rejection('node(s) had no available volume zone');

/** Old label names and their current ones. */
const CURRENT_LABELS: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};
const ZONE_LABELS = [...Object.keys(CURRENT_LABELS), ...Object.values(CURRENT_LABELS)];

interface Zone {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

export const volumeZone: Plugin<readonly Zone[]> = {
  name: 'VolumeZone',
  preFilter({ pod, namespace }, { storage: { objects } }) {
    const zones: Zone[] = [];
    for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
      if (!persistentVolumeClaim) continue;
      const { claimName } = persistentVolumeClaim;
      const claim = objects.claim(namespace, claimName);
      if (!claim) return reject(`persistentvolumeclaim "${claimName}" not found`);
      const { volumeName } = claim.spec;
      if (!volumeName) {
        const className = classNameOf(claim);
        if (!className) return reject('PersistentVolumeClaim had no pv name and storageClass name');
        const storageClass = objects.class(className);
        if (!storageClass) return reject(`storageclass.storage.k8s.io "${className}" not found`);
        if (storageClass.volumeBindingMode === 'WaitForFirstConsumer') continue;
        return reject('PersistentVolume had no name');
      }
      const volume = objects.volume(volumeName);
      if (!volume) return reject(`persistentvolume "${volumeName}" not found`);
      zones.push(...zonesOf(volume));
    }
    return zones.length === 0 ? SKIP : { type: 'go', state: zones };
  },
  filter(_, { labels }, zones) {
    // A node without zone labels takes every volume.
    if (ZONE_LABELS.every((key) => labels[key] === undefined)) return undefined;
    for (const { key, values } of zones) {
      const value = labels[key] ?? labels[CURRENT_LABELS[key] ?? key];
      if (value === undefined || !values.has(value)) return NO_ZONE;
    }
    return undefined;
  },
  hints: {
    Node: mayHaveMoved,
    PersistentVolumeClaim: ownClaim,
    PersistentVolume: ({ type }) => type !== 'delete',
    StorageClass: ({ type, object }) => type === 'add' && object.volumeBindingMode === 'WaitForFirstConsumer',
  },
};

function reject(reason: string): PreFilterResult<never> {
  return { type: 'reject', rejection: rejection(reason) };
}

function zonesOf({ metadata: { labels } }: Volume): Zone[] {
  return ZONE_LABELS.flatMap((key) => {
    const value = labels?.[key];
    return value ? [{ key, values: new Set(value.split('__')) }] : [];
  });
}
