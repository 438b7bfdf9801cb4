/** Storage outside the pod, as only a pod's volume names it: secrets are in the pod's namespace. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { LocalObjectReference } from '../meta/references.ts';
import { PersistentVolumeClaimTemplate } from './persistent-volume-claim-spec.ts';
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

const NamedSecret = s.use(LocalObjectReference, {
  rules: [({ name }: LocalObjectReference) => (name ? undefined : required('name'))],
});

export const GlusterfsVolumeSource = s.object('GlusterfsVolumeSource', glusterfsFields);

export const RBDVolumeSource = s.object('RBDVolumeSource', { ...rbdFields, secretRef: LocalObjectReference });

const iscsi = { ...iscsiFields, secretRef: LocalObjectReference };

export const ISCSIVolumeSource = s.object('ISCSIVolumeSource', iscsi, { rules: [secretForChap] });

function secretForChap({ chapAuthDiscovery, chapAuthSession, secretRef }: ObjectType<typeof iscsi>) {
  return (chapAuthDiscovery || chapAuthSession) && !secretRef ? required('secretRef') : undefined;
}

export const CinderVolumeSource = s.object('CinderVolumeSource', { ...cinderFields, secretRef: NamedSecret });

export const CephFSVolumeSource = s.object('CephFSVolumeSource', { ...cephfsFields, secretRef: LocalObjectReference });

export const FlexVolumeSource = s.object('FlexVolumeSource', { ...flexVolumeFields, secretRef: LocalObjectReference });

export const AzureFileVolumeSource = s.object('AzureFileVolumeSource', azureFileFields);

export const ScaleIOVolumeSource = s.object('ScaleIOVolumeSource', {
  ...scaleIOFields,
  secretRef: LocalObjectReference,
});

export const StorageOSVolumeSource = s.object('StorageOSVolumeSource', { ...storageOSFields, secretRef: NamedSecret });

const MAX_DRIVER_NAME = 63;

/** On the name of a CSI driver. */
function driverName(name: string): FieldError[] {
  const found = Buffer.byteLength(name) > MAX_DRIVER_NAME ? [tooLong('', MAX_DRIVER_NAME)] : [];
  for (const complaint of dnsSubdomain(name.toLowerCase())) found.push(invalid('', name, complaint));
  return found;
}

const csi = {
  driver: s.string({ required: true, rules: [driverName] }),
  readOnly: s.boolean(),
  fsType: s.string(),
  volumeAttributes: s.map(s.string()),
  nodePublishSecretRef: NamedSecret,
};

export const CSIVolumeSource = s.object('CSIVolumeSource', csi, { rules: [secretName] });

function secretName({ nodePublishSecretRef }: ObjectType<typeof csi>): FieldError[] {
  const name = nodePublishSecretRef?.name;
  return name ? dnsSubdomain(name).map((complaint) => invalid('name', name, complaint)) : [];
}

export const PersistentVolumeClaimVolumeSource = s.object('PersistentVolumeClaimVolumeSource', {
  claimName: s.string({ required: true }),
  readOnly: s.boolean({ omitZero: true }),
});

export const EphemeralVolumeSource = s.object('EphemeralVolumeSource', {
  volumeClaimTemplate: s.use(PersistentVolumeClaimTemplate, { required: true }),
});
