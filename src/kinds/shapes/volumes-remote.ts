/** Storage outside the pod, as only a pod's volume names it: secrets are in the pod's namespace. */
import { s } from '../../schema/builders.ts';
import { PersistentVolumeClaimTemplate } from './persistent-volume-claim-spec.ts';
import { LocalObjectReference } from './references.ts';
import {
  azureFileFields,
  cephfsFields,
  cinderFields,
  flexVolumeFields,
  glusterfsFields,
  iscsiFields,
  rbdFields,
  scaleIOFields,
  storageOSFields,
} from './volume-sources.ts';

export const GlusterfsVolumeSource = s.object('GlusterfsVolumeSource', glusterfsFields);

export const RBDVolumeSource = s.object('RBDVolumeSource', { ...rbdFields, secretRef: LocalObjectReference });

export const ISCSIVolumeSource = s.object('ISCSIVolumeSource', { ...iscsiFields, secretRef: LocalObjectReference });

export const CinderVolumeSource = s.object('CinderVolumeSource', { ...cinderFields, secretRef: LocalObjectReference });

export const CephFSVolumeSource = s.object('CephFSVolumeSource', { ...cephfsFields, secretRef: LocalObjectReference });

export const FlexVolumeSource = s.object('FlexVolumeSource', { ...flexVolumeFields, secretRef: LocalObjectReference });

export const AzureFileVolumeSource = s.object('AzureFileVolumeSource', azureFileFields);

export const ScaleIOVolumeSource = s.object('ScaleIOVolumeSource', {
  ...scaleIOFields,
  secretRef: LocalObjectReference,
});

export const StorageOSVolumeSource = s.object('StorageOSVolumeSource', {
  ...storageOSFields,
  secretRef: LocalObjectReference,
});

export const CSIVolumeSource = s.object('CSIVolumeSource', {
  driver: s.string({ required: true }),
  readOnly: s.boolean(),
  fsType: s.string(),
  volumeAttributes: s.map(s.string()),
  nodePublishSecretRef: LocalObjectReference,
});

export const PersistentVolumeClaimVolumeSource = s.object('PersistentVolumeClaimVolumeSource', {
  claimName: s.string({ required: true }),
  readOnly: s.boolean(),
});

export const EphemeralVolumeSource = s.object('EphemeralVolumeSource', {
  volumeClaimTemplate: PersistentVolumeClaimTemplate,
});
