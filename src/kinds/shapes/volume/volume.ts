/** A volume of a pod: a name, and one source. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { pullPolicyOf } from '../container/image-name.ts';
import { descendingPath } from '../meta/paths.ts';
import { DownwardAPIFiles, defaultMode, KeysToPaths } from './volume-files.ts';
import { VolumeProjections } from './volume-projection.ts';
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

const ConfigMapVolumeSource = s.object('ConfigMapVolumeSource', 'Files from the keys of a ConfigMap.', {
  name: s.string('Name of the ConfigMap, in the namespace of the pod.', { required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(
    'If true, the ConfigMap or the keys in items may be missing. Defaults to false, so that the pod waits ' +
      'for them.',
  ),
});

const SecretVolumeSource = s.object('SecretVolumeSource', 'Files from the keys of a Secret.', {
  secretName: s.string('Name of the Secret, in the namespace of the pod.', { required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(
    'If true, the Secret or the keys in items may be missing. Defaults to false, so that the pod waits for ' + 'them.',
  ),
});

const DownwardAPIVolumeSource = s.object(
  'DownwardAPIVolumeSource',
  'Files with fields of the pod and resources of its containers.',
  { items: DownwardAPIFiles, defaultMode },
);

const ProjectedVolumeSource = s.object('ProjectedVolumeSource', 'Files from several sources in one directory.', {
  sources: VolumeProjections,
  defaultMode,
});

const EmptyDirVolumeSource = s.object(
  'EmptyDirVolumeSource',
  'A directory on the node that is empty at first and deleted together with the pod.',
  {
    medium: s.string('Storage medium: empty for the disk of the node, Memory for a tmpfs, or HugePages.', {
      omitZero: true,
    }),
    sizeLimit: s.quantity(
      'Maximum size of the volume. With medium Memory it also cannot exceed the memory limits of the ' +
        'containers. Unlimited by default.',
      {
        rules: [
          (size: string) =>
            size.startsWith('-') ? forbidden('', 'SizeLimit field must be a valid resource quantity') : undefined,
        ],
      },
    ),
  },
);

const GitRepoVolumeSource = s.object(
  'GitRepoVolumeSource',
  'A clone of a Git repository. Deprecated and disabled by default: clone in an init container into an ' +
    'emptyDir instead.',
  {
    repository: s.string('URL of the repository.', { required: true }),
    revision: s.string('Commit, branch or tag to check out.', { omitZero: true }),
    directory: s.string(
      "Directory to clone into, relative to the volume; '.' means the volume itself. Must not contain '..'.",
      { omitZero: true, rules: [matches(descendingPath)] },
    ),
  },
);

const ImageVolumeSource = s.object('ImageVolumeSource', 'The content of an OCI image or artifact, mounted read-only.', {
  reference: s.string('Image or artifact to mount, in the form of a container image.', { omitZero: true }),
  pullPolicy: s.enum(
    ['Always', 'IfNotPresent', 'Never'],
    'When the image is pulled: Always, IfNotPresent or Never. Defaults to Always if the tag is latest or ' +
      'missing, otherwise to IfNotPresent.',
    { default: ({ reference }: { reference?: string }) => pullPolicyOf(reference) },
  ),
});

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
