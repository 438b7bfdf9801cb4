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
  azureFileFields,
  cephfsFields,
  cinderFields,
  FCVolumeSource,
  FlockerVolumeSource,
  flexVolumeFields,
  GCEPersistentDiskVolumeSource,
  glusterfsFields,
  HostPathVolumeSource,
  iscsiFields,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  rbdFields,
  scaleIOFields,
  storageOSFields,
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

const WholeSecretReference = s.use(SecretReference, {
  description: 'Secret with the credentials. Both name and namespace are required.',
  rules: [wholeReference],
});
const CheckedSecretReference = s.use(SecretReference, { rules: [checkedReference] });

const AzureFilePersistentVolumeSource = s.object(
  'AzureFilePersistentVolumeSource',
  {
    ...azureFileFields,
    secretNamespace: s.string({ description: 'Namespace of the Secret. Defaults to the namespace of the pod.' }),
  },
  { description: 'An Azure file share. Deprecated: use the CSI driver file.csi.azure.com.' },
);

const CephFSPersistentVolumeSource = s.object(
  'CephFSPersistentVolumeSource',
  {
    ...cephfsFields,
    secretRef: s.use(SecretReference, { description: 'Secret with the key of the user. It overrides secretFile.' }),
  },
  { description: 'A directory of a Ceph file system. Deprecated and no longer functional.' },
);

const CinderPersistentVolumeSource = s.object(
  'CinderPersistentVolumeSource',
  {
    ...cinderFields,
    secretRef: WholeSecretReference,
  },
  { description: 'An OpenStack Cinder volume. Deprecated: use the CSI driver cinder.csi.openstack.org.' },
);

const CSIPersistentVolumeSource = s.object(
  'CSIPersistentVolumeSource',
  {
    driver: s.string({
      required: true,
      description: 'Name of the CSI driver, at most 63 characters.',
      rules: [driverName],
    }),
    volumeHandle: s.string({
      required: true,
      description: 'Identifier of the volume that the driver returned when it was created.',
    }),
    readOnly: s.boolean({ omitZero: true, description: 'Attaches the volume read-only. Defaults to false.' }),
    fsType: s.string({ omitZero: true, description: 'File system of the volume, such as ext4 or xfs.' }),
    volumeAttributes: s.map(s.string(), { description: 'Settings of the volume that are passed to the driver.' }),
    controllerPublishSecretRef: s.use(CheckedSecretReference, {
      description: 'Secret with credentials that the driver needs to attach and detach the volume.',
    }),
    nodeStageSecretRef: s.use(SecretReference, {
      description: 'Secret with credentials that the driver needs to prepare the volume on a node.',
    }),
    nodePublishSecretRef: s.use(CheckedSecretReference, {
      description: 'Secret with credentials that the driver needs to mount the volume for a pod.',
    }),
    controllerExpandSecretRef: s.use(CheckedSecretReference, {
      description: 'Secret with credentials that the driver needs to expand the volume.',
    }),
    nodeExpandSecretRef: s.use(CheckedSecretReference, {
      description: 'Secret with credentials that the driver needs to expand the file system on a node.',
    }),
  },
  { description: 'A volume of a CSI driver.' },
);

const FlexPersistentVolumeSource = s.object(
  'FlexPersistentVolumeSource',
  {
    ...flexVolumeFields,
    secretRef: s.use(SecretReference, { description: 'Secret whose values are passed to the driver.' }),
  },
  { description: 'A volume of an executable FlexVolume driver on the node. Deprecated: use a CSI driver.' },
);

const GlusterfsPersistentVolumeSource = s.object(
  'GlusterfsPersistentVolumeSource',
  {
    ...glusterfsFields,
    endpointsNamespace: s.string({
      description: 'Namespace of the Endpoints object. Defaults to the namespace of the claim.',
    }),
  },
  { description: 'A Gluster volume. Deprecated and no longer functional.' },
);

const ISCSIPersistentVolumeSource = s.object(
  'ISCSIPersistentVolumeSource',
  { ...iscsiFields, secretRef: s.use(SecretReference, { description: 'Secret with the CHAP credentials.' }) },
  { description: 'An iSCSI disk that is attached to the node of the pod.', rules: [chapSecret] },
);

const LocalVolumeSource = s.object(
  'LocalVolumeSource',
  {
    path: s.string({
      required: true,
      description: 'Path of the disk, partition or directory on the node.',
      rules: [matches(backsteps)],
    }),
    fsType: s.string({
      description: 'File system that a disk is formatted with if it has none. If absent, a suitable one is chosen.',
    }),
  },
  { description: 'A disk, partition or directory of one node. Requires nodeAffinity on the volume.' },
);

const RBDPersistentVolumeSource = s.object(
  'RBDPersistentVolumeSource',
  {
    ...rbdFields,
    secretRef: s.use(SecretReference, { description: 'Secret with the key of the user. It overrides keyring.' }),
  },
  { description: 'A Ceph RADOS block device. Deprecated and no longer functional.' },
);

const ScaleIOPersistentVolumeSource = s.object(
  'ScaleIOPersistentVolumeSource',
  {
    ...scaleIOFields,
    secretRef: s.use(SecretReference, { description: 'Secret with the user and password for ScaleIO.' }),
  },
  { description: 'A ScaleIO volume. Deprecated and no longer functional.' },
);

const StorageOSPersistentVolumeSource = s.object(
  'StorageOSPersistentVolumeSource',
  {
    ...storageOSFields,
    secretRef: s.use(ObjectReference, {
      description: 'Secret with the credentials for the StorageOS API. Both name and namespace are required.',
      rules: [wholeReference],
    }),
  },
  { description: 'A StorageOS volume. Deprecated and no longer functional.' },
);

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
