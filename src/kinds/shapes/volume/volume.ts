/** A volume of a pod: a name, and one source. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from './volume-sources.ts';
import { EmptyDirVolumeSource, GitRepoVolumeSource, ImageVolumeSource } from './volumes-local.ts';
import {
  ConfigMapVolumeSource,
  DownwardAPIVolumeSource,
  ProjectedVolumeSource,
  SecretVolumeSource,
} from './volumes-projected.ts';
import {
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  CSIVolumeSource,
  EphemeralVolumeSource,
  FlexVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  PersistentVolumeClaimVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
} from './volumes-remote.ts';

/** Sources other than emptyDir, in the order in which errors about a second source are reported. */
const sources = {
  hostPath: HostPathVolumeSource,
  gcePersistentDisk: GCEPersistentDiskVolumeSource,
  awsElasticBlockStore: AWSElasticBlockStoreVolumeSource,
  gitRepo: GitRepoVolumeSource,
  secret: SecretVolumeSource,
  nfs: NFSVolumeSource,
  iscsi: ISCSIVolumeSource,
  glusterfs: GlusterfsVolumeSource,
  persistentVolumeClaim: PersistentVolumeClaimVolumeSource,
  rbd: RBDVolumeSource,
  flexVolume: FlexVolumeSource,
  cinder: CinderVolumeSource,
  cephfs: CephFSVolumeSource,
  flocker: FlockerVolumeSource,
  downwardAPI: DownwardAPIVolumeSource,
  fc: FCVolumeSource,
  azureFile: AzureFileVolumeSource,
  configMap: ConfigMapVolumeSource,
  vsphereVolume: VsphereVirtualDiskVolumeSource,
  quobyte: QuobyteVolumeSource,
  azureDisk: AzureDiskVolumeSource,
  photonPersistentDisk: PhotonPersistentDiskVolumeSource,
  projected: ProjectedVolumeSource,
  portworxVolume: PortworxVolumeSource,
  scaleIO: ScaleIOVolumeSource,
  storageos: StorageOSVolumeSource,
  csi: CSIVolumeSource,
  ephemeral: EphemeralVolumeSource,
  image: ImageVolumeSource,
};

const sourceNames = Object.keys(sources);

const volume = {
  name: s.string('Name by which containers refer to the volume. A DNS label, unique within the pod.', {
    required: true,
    rules: [matches(dnsLabel)],
  }),
  ...sources,
  emptyDir: s.use(EmptyDirVolumeSource, {
    default: (holder: Readonly<Record<string, unknown>>): object | undefined =>
      sourceNames.some((name) => holder[name] !== undefined) ? undefined : {},
  }),
};
type Volume = ObjectType<typeof volume>;

export const Volumes = s.listMap(
  s.object(
    'Volume',
    'A volume of a pod. At most one source may be set; without one, the volume is an emptyDir.',
    volume,
    { rules: [oneSource, portalFits] },
  ),
  'Volumes that the containers of the pod can mount.',
  { keys: ['name'], retainKeys: true, rules: [unique('name')] },
);

function oneSource(value: Volume): FieldError[] {
  const set = value as Readonly<Record<string, unknown>>;
  const rest = sourceNames.filter((name) => set[name] !== undefined);
  if (!set.emptyDir) rest.shift();
  return rest.map((name) => forbidden(name, 'may not specify more than 1 volume type'));
}

/** The names together identify the iSCSI interface, whose name has at most 64 characters. */
function portalFits({ name, iscsi }: Volume): FieldError | undefined {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return undefined;
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return invalid('name', name, detail);
}
