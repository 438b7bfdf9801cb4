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

const NamedSecret = s.use(LocalObjectReference, {
  description: 'Secret with the credentials, in the namespace of the pod.',
  rules: [({ name }: LocalObjectReference) => (name ? undefined : required('name'))],
});

export const GlusterfsVolumeSource = s.object('GlusterfsVolumeSource', glusterfsFields, {
  description: 'A Gluster volume. Deprecated and no longer functional.',
});

export const RBDVolumeSource = s.object(
  'RBDVolumeSource',
  {
    ...rbdFields,
    secretRef: s.use(LocalObjectReference, {
      description: 'Secret with the key of the user, in the namespace of the pod. It overrides keyring.',
    }),
  },
  { description: 'A Ceph RADOS block device. Deprecated and no longer functional.' },
);

const iscsi = {
  ...iscsiFields,
  secretRef: s.use(LocalObjectReference, {
    description: 'Secret with the CHAP credentials, in the namespace of the pod.',
  }),
};

export const ISCSIVolumeSource = s.object('ISCSIVolumeSource', iscsi, {
  description: 'An iSCSI disk that is attached to the node of the pod.',
  rules: [secretForChap],
});

function secretForChap({ chapAuthDiscovery, chapAuthSession, secretRef }: ObjectType<typeof iscsi>) {
  return (chapAuthDiscovery || chapAuthSession) && !secretRef ? required('secretRef') : undefined;
}

export const CinderVolumeSource = s.object(
  'CinderVolumeSource',
  { ...cinderFields, secretRef: NamedSecret },
  { description: 'An OpenStack Cinder volume. Deprecated: use the CSI driver cinder.csi.openstack.org.' },
);

export const CephFSVolumeSource = s.object(
  'CephFSVolumeSource',
  {
    ...cephfsFields,
    secretRef: s.use(LocalObjectReference, {
      description: 'Secret with the key of the user, in the namespace of the pod. It overrides secretFile.',
    }),
  },
  { description: 'A directory of a Ceph file system. Deprecated and no longer functional.' },
);

export const FlexVolumeSource = s.object(
  'FlexVolumeSource',
  {
    ...flexVolumeFields,
    secretRef: s.use(LocalObjectReference, {
      description: 'Secret in the namespace of the pod whose values are passed to the driver.',
    }),
  },
  { description: 'A volume of an executable FlexVolume driver on the node. Deprecated: use a CSI driver.' },
);

export const AzureFileVolumeSource = s.object('AzureFileVolumeSource', azureFileFields, {
  description: 'An Azure file share. Deprecated: use the CSI driver file.csi.azure.com.',
});

export const ScaleIOVolumeSource = s.object(
  'ScaleIOVolumeSource',
  {
    ...scaleIOFields,
    secretRef: s.use(LocalObjectReference, {
      description: 'Secret with the user and password for ScaleIO, in the namespace of the pod.',
    }),
  },
  { description: 'A ScaleIO volume. Deprecated and no longer functional.' },
);

export const StorageOSVolumeSource = s.object(
  'StorageOSVolumeSource',
  { ...storageOSFields, secretRef: NamedSecret },
  { description: 'A StorageOS volume. Deprecated and no longer functional.' },
);

const MAX_DRIVER_NAME = 63;

/** Checks the name of a CSI driver. */
function driverName(name: string): FieldError[] {
  const found = Buffer.byteLength(name) > MAX_DRIVER_NAME ? [tooLong('', MAX_DRIVER_NAME)] : [];
  for (const complaint of dnsSubdomain(name.toLowerCase())) found.push(invalid('', name, complaint));
  return found;
}

const csi = {
  driver: s.string({
    required: true,
    description: 'Name of the CSI driver, as registered in the cluster. At most 63 characters.',
    rules: [driverName],
  }),
  readOnly: s.boolean({ description: 'Mounts the volume read-only. Defaults to false.' }),
  fsType: s.string({ description: 'File system of the volume, such as ext4 or xfs. If empty, the driver decides.' }),
  volumeAttributes: s.map(s.string(), {
    description: 'Settings of the volume that are passed to the driver; see its documentation.',
  }),
  nodePublishSecretRef: s.use(NamedSecret, {
    description: 'Secret with credentials for the driver, in the namespace of the pod.',
  }),
};

export const CSIVolumeSource = s.object('CSIVolumeSource', csi, {
  description: 'An ephemeral volume that a CSI driver provides for the lifetime of the pod.',
  rules: [secretName],
});

function secretName({ nodePublishSecretRef }: ObjectType<typeof csi>): FieldError[] {
  const name = nodePublishSecretRef?.name;
  return name ? dnsSubdomain(name).map((complaint) => invalid('name', name, complaint)) : [];
}

export const PersistentVolumeClaimVolumeSource = s.object(
  'PersistentVolumeClaimVolumeSource',
  {
    claimName: s.string({
      required: true,
      description: 'Name of the PersistentVolumeClaim, in the namespace of the pod.',
    }),
    readOnly: s.boolean({
      omitZero: true,
      description: 'Mounts the volume read-only in all containers. Defaults to false.',
    }),
  },
  { description: 'The storage of a PersistentVolumeClaim.' },
);

export const EphemeralVolumeSource = s.object(
  'EphemeralVolumeSource',
  {
    volumeClaimTemplate: s.use(PersistentVolumeClaimTemplate, {
      required: true,
      description:
        'Template of the PersistentVolumeClaim, which is named <pod name>-<volume name> and owned by the pod. ' +
        'Required.',
    }),
  },
  { description: 'A volume whose claim is created and deleted together with the pod.' },
);
