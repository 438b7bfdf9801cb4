/** Describes a volume to a driver, from the pod or the PersistentVolume that names it. */
import { createHash } from 'node:crypto';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { CSIDriver } from '../../../kinds/groups/storage/csi-driver.ts';
import type { PodVolume, VolumeSetup } from '../kinds/setup.ts';
import { VolumeError } from '../volumes.ts';
import { CAPABILITY, type VolumeCapability } from './messages.ts';

export type CsiSource =
  | { readonly type: 'inline'; readonly source: NonNullable<PodVolume['csi']> }
  | {
      readonly type: 'persistent';
      readonly volume: DeepReadonly<PersistentVolume>;
      readonly claim: DeepReadonly<PersistentVolumeClaim>;
    };

export type DriverSettings = DeepReadonly<CSIDriver> | undefined;
export type SecretRef = { readonly name?: string; readonly namespace?: string } | undefined;

export interface CsiVolume {
  readonly driver: string;
  readonly volumeHandle: string;
  /** Names its directory in the pod. */
  readonly specName: string;
  readonly isBlock: boolean;
  readonly fsType: string;
  readonly mountFlags: readonly string[];
  readonly accessModes: readonly string[];
  readonly readOnly: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretRef;
  readonly publishSecret: SecretRef;
  readonly expandSecret: SecretRef;
}

export function csiVolume({ pod, uid, volume: { name } }: VolumeSetup, source: CsiSource): CsiVolume {
  if (source.type === 'inline') {
    const { driver, fsType = '', readOnly = false, volumeAttributes = {}, nodePublishSecretRef } = source.source;
    return {
      driver,
      fsType,
      readOnly,
      specName: name,
      attributes: volumeAttributes,
      isBlock: false,
      mountFlags: [],
      accessModes: [],
      stageSecret: undefined,
      expandSecret: undefined,
      volumeHandle: `csi-${createHash('sha256').update(`${uid}${name}`).digest('hex')}`,
      publishSecret: nodePublishSecretRef && {
        name: nodePublishSecretRef.name ?? '',
        namespace: pod.metadata.namespace ?? '',
      },
    };
  }
  const { metadata, spec } = source.volume;
  const { csi, accessModes = [], mountOptions = [] } = spec;
  if (!csi) throw new VolumeError('the volume has no CSI source');
  return {
    driver: csi.driver,
    volumeHandle: csi.volumeHandle,
    specName: metadata.name ?? name,
    isBlock: spec.volumeMode === 'Block',
    fsType: csi.fsType ?? '',
    mountFlags: mountOptions,
    accessModes,
    readOnly: csi.readOnly ?? false,
    attributes: csi.volumeAttributes ?? {},
    stageSecret: csi.nodeStageSecretRef as SecretRef,
    publishSecret: csi.nodePublishSecretRef as SecretRef,
    expandSecret: csi.nodeExpandSecretRef as SecretRef,
  };
}

/** Numbers of CSI's AccessMode.Mode. */
const SINGLE_NODE_WRITER = 1;
const ACCESS_MODES: Readonly<Record<string, number>> = { ReadOnlyMany: 3, ReadWriteMany: 5 };
/** Access modes for drivers that distinguish a single writer on a node from several. */
const SINGLE_NODE_MODES: Readonly<Record<string, number>> = { ...ACCESS_MODES, ReadWriteOncePod: 6, ReadWriteOnce: 7 };

/** `group` is the pod's fsGroup, for drivers that apply it themselves. */
export function capabilityOf(
  volume: CsiVolume,
  { capabilities, group }: { readonly capabilities: ReadonlySet<number>; readonly group: number | undefined },
): VolumeCapability {
  const { isBlock, fsType, mountFlags, accessModes } = volume;
  const modes = capabilities.has(CAPABILITY.knowsSingleNodeModes) ? SINGLE_NODE_MODES : ACCESS_MODES;
  const accessMode = { mode: modes[accessModes[0] ?? ''] ?? SINGLE_NODE_WRITER };
  if (isBlock) return { block: {}, accessMode };
  const volumeMountGroup = group !== undefined && capabilities.has(CAPABILITY.setsGroup) ? String(group) : '';
  return { mount: { fsType, mountFlags, volumeMountGroup }, accessMode };
}

/**
 * Reports whether the agent gives the files to the pod's fsGroup: by default, only of volumes that one node alone
 * writes.
 */
export function ownsFiles(volume: CsiVolume, settings: DriverSettings, capabilities: ReadonlySet<number>): boolean {
  const policy = settings?.spec.fsGroupPolicy;
  if (policy === 'None' || volume.isBlock || capabilities.has(CAPABILITY.setsGroup)) return false;
  if (policy === 'File') return true;
  const [mode = 'ReadWriteOnce'] = volume.accessModes;
  return volume.fsType !== '' && (mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod') && !volume.readOnly;
}
