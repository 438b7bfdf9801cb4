/** Volume sources in the form that PersistentVolumes use: references to secrets name the namespace. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { backsteps } from '../meta/paths.ts';
import { ObjectReference, SecretReference } from '../meta/references.ts';
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  azureFileSource,
  cephfsSource,
  cinderSource,
  FCVolumeSource,
  FlockerVolumeSource,
  flexVolumeFields,
  GCEPersistentDiskVolumeSource,
  glusterfsSource,
  HostPathVolumeSource,
  iscsiSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  rbdSource,
  scaleIOSource,
  storageOSSource,
  VsphereVirtualDiskVolumeSource,
} from './volume-sources.ts';

interface Reference {
  name?: string;
  namespace?: string;
}

const wholeReference = ({ name, namespace }: Reference): FieldError[] => [
  ...(name ? [] : [required('name')]),
  ...(namespace ? [] : [required('namespace')]),
];

const checkedReference = (reference: Reference): FieldError[] => {
  const { name = '', namespace = '' } = reference;
  return [
    ...wholeReference(reference),
    ...(name ? dnsSubdomain(name).map((each) => invalid('name', name, each)) : []),
    ...(namespace ? dnsLabel(namespace).map((each) => invalid('namespace', namespace, each)) : []),
  ];
};

const WholeSecretReference = s.use(
  SecretReference,
  'Secret with the credentials. Both name and namespace are required.',
  { rules: [wholeReference] },
);
const CheckedSecretReference = s.use(SecretReference, { rules: [checkedReference] });

const AzureFilePersistentVolumeSource = azureFileSource('Persistent', {
  secretNamespace: s.string('Namespace of the Secret. Defaults to the namespace of the pod.'),
});

const CephFSPersistentVolumeSource = cephfsSource('Persistent', {
  secretRef: s.use(SecretReference, 'Secret with the key of the user. It overrides secretFile.'),
});

const CinderPersistentVolumeSource = cinderSource('Persistent', { secretRef: WholeSecretReference });

const CSIPersistentVolumeSource = s.object('CSIPersistentVolumeSource', 'A volume of a CSI driver.', {
  driver: s.string('Name of the CSI driver, at most 63 characters.', { required: true, rules: [driverName] }),
  volumeHandle: s.string('Identifier of the volume that the driver returned when it was created.', { required: true }),
  readOnly: s.boolean('Attaches the volume read-only. Defaults to false.', { omitZero: true }),
  fsType: s.string('File system of the volume, such as ext4 or xfs.', { omitZero: true }),
  volumeAttributes: s.map(s.string(), 'Settings of the volume that are passed to the driver.'),
  controllerPublishSecretRef: s.use(
    CheckedSecretReference,
    'Secret with credentials that the driver needs to attach and detach the volume.',
  ),
  nodeStageSecretRef: s.use(
    SecretReference,
    'Secret with credentials that the driver needs to prepare the volume on a node.',
  ),
  nodePublishSecretRef: s.use(
    CheckedSecretReference,
    'Secret with credentials that the driver needs to mount the volume for a pod.',
  ),
  controllerExpandSecretRef: s.use(
    CheckedSecretReference,
    'Secret with credentials that the driver needs to expand the volume.',
  ),
  nodeExpandSecretRef: s.use(
    CheckedSecretReference,
    'Secret with credentials that the driver needs to expand the file system on a node.',
  ),
});

const FlexPersistentVolumeSource = s.object(
  'FlexPersistentVolumeSource',
  'A volume of an executable FlexVolume driver on the node. Deprecated: use a CSI driver.',
  {
    ...flexVolumeFields,
    secretRef: s.use(SecretReference, 'Secret whose values are passed to the driver.'),
  },
);

const GlusterfsPersistentVolumeSource = glusterfsSource('Persistent', {
  endpointsNamespace: s.string('Namespace of the Endpoints object. Defaults to the namespace of the claim.'),
});

const ISCSIPersistentVolumeSource = s.use(
  iscsiSource('Persistent', { secretRef: s.use(SecretReference, 'Secret with the CHAP credentials.') }),
  { rules: [chapSecret] },
);

const LocalVolumeSource = s.object(
  'LocalVolumeSource',
  'A disk, partition or directory of one node. Requires nodeAffinity on the volume.',
  {
    path: s.string('Path of the disk, partition or directory on the node.', {
      required: true,
      rules: [matches(backsteps)],
    }),
    fsType: s.string('File system that a disk is formatted with if it has none. If absent, a suitable one is chosen.'),
  },
);

const RBDPersistentVolumeSource = rbdSource('Persistent', {
  secretRef: s.use(SecretReference, 'Secret with the key of the user. It overrides keyring.'),
});

const ScaleIOPersistentVolumeSource = scaleIOSource('Persistent', {
  secretRef: s.use(SecretReference, 'Secret with the user and password for ScaleIO.'),
});

const StorageOSPersistentVolumeSource = storageOSSource('Persistent', {
  secretRef: s.use(
    ObjectReference,
    'Secret with the credentials for the StorageOS API. Both name and namespace are required.',
    { rules: [wholeReference] },
  ),
});

/** A PersistentVolume has exactly one of them. */
export const persistentVolumeSources = {
  hostPath: HostPathVolumeSource,
  gcePersistentDisk: GCEPersistentDiskVolumeSource,
  awsElasticBlockStore: AWSElasticBlockStoreVolumeSource,
  glusterfs: GlusterfsPersistentVolumeSource,
  flocker: FlockerVolumeSource,
  nfs: NFSVolumeSource,
  rbd: RBDPersistentVolumeSource,
  quobyte: QuobyteVolumeSource,
  cephfs: CephFSPersistentVolumeSource,
  iscsi: ISCSIPersistentVolumeSource,
  cinder: CinderPersistentVolumeSource,
  fc: FCVolumeSource,
  flexVolume: FlexPersistentVolumeSource,
  azureFile: AzureFilePersistentVolumeSource,
  vsphereVolume: VsphereVirtualDiskVolumeSource,
  photonPersistentDisk: PhotonPersistentDiskVolumeSource,
  portworxVolume: PortworxVolumeSource,
  azureDisk: AzureDiskVolumeSource,
  scaleIO: ScaleIOPersistentVolumeSource,
  local: LocalVolumeSource,
  storageos: StorageOSPersistentVolumeSource,
  csi: CSIPersistentVolumeSource,
};

function driverName(name: string): FieldError[] {
  const long = Buffer.byteLength(name) > 63 ? [tooLong('', 63)] : [];
  return [...long, ...dnsSubdomain(name.toLowerCase()).map((each) => invalid('', name, each))];
}

interface Iscsi {
  chapAuthDiscovery?: boolean;
  chapAuthSession?: boolean;
  secretRef?: Reference;
}

function chapSecret({ chapAuthDiscovery, chapAuthSession, secretRef }: Iscsi): FieldError | undefined {
  if (secretRef) return secretRef.name ? undefined : required('secretRef.name');
  return chapAuthDiscovery || chapAuthSession ? required('secretRef') : undefined;
}
