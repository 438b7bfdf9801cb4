/** Volume sources in the form that pods use: their secrets are in the namespace of the pod. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { LocalObjectReference } from '../meta/references.ts';
import { PersistentVolumeClaimTemplate } from './persistent-volume-claim-template.ts';
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

const NamedSecret = s.use(LocalObjectReference, 'Secret with the credentials, in the namespace of the pod.', {
  rules: [({ name }: LocalObjectReference) => (name ? undefined : required('name'))],
});

export const GlusterfsVolumeSource = s.object(
  'GlusterfsVolumeSource',
  'A Gluster volume. Deprecated and no longer functional.',
  glusterfsFields,
);

export const RBDVolumeSource = s.object(
  'RBDVolumeSource',
  'A Ceph RADOS block device. Deprecated and no longer functional.',
  {
    ...rbdFields,
    secretRef: s.use(
      LocalObjectReference,
      'Secret with the key of the user, in the namespace of the pod. It overrides keyring.',
    ),
  },
);

const iscsi = {
  ...iscsiFields,
  secretRef: s.use(LocalObjectReference, 'Secret with the CHAP credentials, in the namespace of the pod.'),
};

export const ISCSIVolumeSource = s.object(
  'ISCSIVolumeSource',
  'An iSCSI disk that is attached to the node of the pod.',
  iscsi,
  { rules: [secretForChap] },
);

function secretForChap({ chapAuthDiscovery, chapAuthSession, secretRef }: ObjectType<typeof iscsi>) {
  return (chapAuthDiscovery || chapAuthSession) && !secretRef ? required('secretRef') : undefined;
}

export const CinderVolumeSource = s.object(
  'CinderVolumeSource',
  'An OpenStack Cinder volume. Deprecated: use the CSI driver cinder.csi.openstack.org.',
  { ...cinderFields, secretRef: NamedSecret },
);

export const CephFSVolumeSource = s.object(
  'CephFSVolumeSource',
  'A directory of a Ceph file system. Deprecated and no longer functional.',
  {
    ...cephfsFields,
    secretRef: s.use(
      LocalObjectReference,
      'Secret with the key of the user, in the namespace of the pod. It overrides secretFile.',
    ),
  },
);

export const FlexVolumeSource = s.object(
  'FlexVolumeSource',
  'A volume of an executable FlexVolume driver on the node. Deprecated: use a CSI driver.',
  {
    ...flexVolumeFields,
    secretRef: s.use(LocalObjectReference, 'Secret in the namespace of the pod whose values are passed to the driver.'),
  },
);

export const AzureFileVolumeSource = s.object(
  'AzureFileVolumeSource',
  'An Azure file share. Deprecated: use the CSI driver file.csi.azure.com.',
  azureFileFields,
);

export const ScaleIOVolumeSource = s.object(
  'ScaleIOVolumeSource',
  'A ScaleIO volume. Deprecated and no longer functional.',
  {
    ...scaleIOFields,
    secretRef: s.use(
      LocalObjectReference,
      'Secret with the user and password for ScaleIO, in the namespace of the pod.',
    ),
  },
);

export const StorageOSVolumeSource = s.object(
  'StorageOSVolumeSource',
  'A StorageOS volume. Deprecated and no longer functional.',
  { ...storageOSFields, secretRef: NamedSecret },
);

const MAX_DRIVER_NAME = 63;

/** Checks the name of a CSI driver. */
function driverName(name: string): FieldError[] {
  const found = Buffer.byteLength(name) > MAX_DRIVER_NAME ? [tooLong('', MAX_DRIVER_NAME)] : [];
  for (const complaint of dnsSubdomain(name.toLowerCase())) found.push(invalid('', name, complaint));
  return found;
}

const csi = {
  driver: s.string('Name of the CSI driver, as registered in the cluster. At most 63 characters.', {
    required: true,
    rules: [driverName],
  }),
  readOnly: s.boolean('Mounts the volume read-only. Defaults to false.'),
  fsType: s.string('File system of the volume, such as ext4 or xfs. If empty, the driver decides.'),
  volumeAttributes: s.map(s.string(), 'Settings of the volume that are passed to the driver; see its documentation.'),
  nodePublishSecretRef: s.use(NamedSecret, 'Secret with credentials for the driver, in the namespace of the pod.'),
};

export const CSIVolumeSource = s.object(
  'CSIVolumeSource',
  'An ephemeral volume that a CSI driver provides for the lifetime of the pod.',
  csi,
  { rules: [secretName] },
);

function secretName({ nodePublishSecretRef }: ObjectType<typeof csi>): FieldError[] {
  const name = nodePublishSecretRef?.name;
  return name ? dnsSubdomain(name).map((complaint) => invalid('name', name, complaint)) : [];
}

export const PersistentVolumeClaimVolumeSource = s.object(
  'PersistentVolumeClaimVolumeSource',
  'The storage of a PersistentVolumeClaim.',
  {
    claimName: s.string('Name of the PersistentVolumeClaim, in the namespace of the pod.', { required: true }),
    readOnly: s.boolean('Mounts the volume read-only in all containers. Defaults to false.', { omitZero: true }),
  },
);

export const EphemeralVolumeSource = s.object(
  'EphemeralVolumeSource',
  'A volume whose claim is created and deleted together with the pod.',
  {
    volumeClaimTemplate: s.use(
      PersistentVolumeClaimTemplate,
      'Template of the PersistentVolumeClaim, which is named <pod name>-<volume name> and owned by the pod. ' +
        'Required.',
      { required: true },
    ),
  },
);
