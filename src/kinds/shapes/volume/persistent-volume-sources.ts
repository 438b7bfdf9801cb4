/** Storage that a PersistentVolume stands for. Its secrets name their namespace, because the volume has none. */
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

const WholeSecretReference = s.use(SecretReference, { rules: [wholeReference] });
const CheckedSecretReference = s.use(SecretReference, { rules: [checkedReference] });

const AzureFilePersistentVolumeSource = s.object('AzureFilePersistentVolumeSource', {
  ...azureFileFields,
  secretNamespace: s.string(),
});

const CephFSPersistentVolumeSource = s.object('CephFSPersistentVolumeSource', {
  ...cephfsFields,
  secretRef: SecretReference,
});

const CinderPersistentVolumeSource = s.object('CinderPersistentVolumeSource', {
  ...cinderFields,
  secretRef: WholeSecretReference,
});

const CSIPersistentVolumeSource = s.object('CSIPersistentVolumeSource', {
  driver: s.string({ required: true, description: 'The driver that knows the storage.', rules: [driverName] }),
  volumeHandle: s.string({ required: true, description: 'What the driver calls the volume.' }),
  readOnly: s.boolean({ omitZero: true }),
  fsType: s.string({ omitZero: true }),
  volumeAttributes: s.map(s.string()),
  controllerPublishSecretRef: CheckedSecretReference,
  nodeStageSecretRef: SecretReference,
  nodePublishSecretRef: CheckedSecretReference,
  controllerExpandSecretRef: CheckedSecretReference,
  nodeExpandSecretRef: CheckedSecretReference,
});

const FlexPersistentVolumeSource = s.object('FlexPersistentVolumeSource', {
  ...flexVolumeFields,
  secretRef: SecretReference,
});

const GlusterfsPersistentVolumeSource = s.object('GlusterfsPersistentVolumeSource', {
  ...glusterfsFields,
  endpointsNamespace: s.string(),
});

const ISCSIPersistentVolumeSource = s.object(
  'ISCSIPersistentVolumeSource',
  { ...iscsiFields, secretRef: SecretReference },
  { rules: [chapSecret] },
);

const LocalVolumeSource = s.object('LocalVolumeSource', {
  path: s.string({ required: true, description: 'Where the disk is on its node.', rules: [matches(backsteps)] }),
  fsType: s.string(),
});

const RBDPersistentVolumeSource = s.object('RBDPersistentVolumeSource', { ...rbdFields, secretRef: SecretReference });

const ScaleIOPersistentVolumeSource = s.object('ScaleIOPersistentVolumeSource', {
  ...scaleIOFields,
  secretRef: SecretReference,
});

const StorageOSPersistentVolumeSource = s.object('StorageOSPersistentVolumeSource', {
  ...storageOSFields,
  secretRef: s.use(ObjectReference, { rules: [wholeReference] }),
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
