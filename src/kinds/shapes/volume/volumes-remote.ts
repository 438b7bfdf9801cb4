/** Volume sources in the form that pods use: their secrets are in the namespace of the pod. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ObjectMeta } from '../meta/object-meta.ts';
import { LocalObjectReference } from '../meta/references.ts';
import { claimSpec } from './claim-rules.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';
import {
  azureFileSource,
  cephfsSource,
  cinderSource,
  flexVolumeFields,
  glusterfsSource,
  iscsiSource,
  rbdSource,
  scaleIOSource,
  storageOSSource,
} from './volume-sources.ts';

/** Template of the claims that are created for pods, each named `<pod>-<volume>`. */
const PersistentVolumeClaimTemplate = s.object(
  'PersistentVolumeClaimTemplate',
  'Template of the claim of an ephemeral volume.',
  {
    metadata: s.use(ObjectMeta, 'Labels and annotations of the claim. Other fields are not allowed.', {
      rules: [onlyLabelsAndAnnotations],
    }),
    spec: s.use(PersistentVolumeClaimSpec, { zero: true, rules: [claimSpec] }),
  },
);

const NamedSecret = s.use(LocalObjectReference, 'Secret with the credentials, in the namespace of the pod.', {
  rules: [({ name }: LocalObjectReference) => (name ? undefined : required('name'))],
});

export const GlusterfsVolumeSource = glusterfsSource('', {});

export const RBDVolumeSource = rbdSource('', {
  secretRef: s.use(
    LocalObjectReference,
    'Secret with the key of the user, in the namespace of the pod. It overrides keyring.',
  ),
});

export const ISCSIVolumeSource = s.use(
  iscsiSource('', {
    secretRef: s.use(LocalObjectReference, 'Secret with the CHAP credentials, in the namespace of the pod.'),
  }),
  { rules: [secretForChap] },
);

interface Iscsi {
  chapAuthDiscovery?: boolean;
  chapAuthSession?: boolean;
  secretRef?: object;
}

function secretForChap({ chapAuthDiscovery, chapAuthSession, secretRef }: Iscsi) {
  return (chapAuthDiscovery || chapAuthSession) && !secretRef ? required('secretRef') : undefined;
}

export const CinderVolumeSource = cinderSource('', { secretRef: NamedSecret });

export const CephFSVolumeSource = cephfsSource('', {
  secretRef: s.use(
    LocalObjectReference,
    'Secret with the key of the user, in the namespace of the pod. It overrides secretFile.',
  ),
});

export const FlexVolumeSource = s.object(
  'FlexVolumeSource',
  'A volume of an executable FlexVolume driver on the node. Deprecated: use a CSI driver.',
  {
    ...flexVolumeFields,
    secretRef: s.use(LocalObjectReference, 'Secret in the namespace of the pod whose values are passed to the driver.'),
  },
);

export const AzureFileVolumeSource = azureFileSource('', {});

export const ScaleIOVolumeSource = scaleIOSource('', {
  secretRef: s.use(LocalObjectReference, 'Secret with the user and password for ScaleIO, in the namespace of the pod.'),
});

export const StorageOSVolumeSource = storageOSSource('', { secretRef: NamedSecret });

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

function onlyLabelsAndAnnotations(metadata: ObjectMeta): FieldError[] {
  return Object.keys(metadata)
    .filter((field) => field !== 'labels' && field !== 'annotations')
    .map((field) => forbidden(field, 'cannot be set'));
}
