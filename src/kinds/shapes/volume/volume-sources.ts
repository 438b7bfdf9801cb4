/** Volume sources that both pods and PersistentVolumes can use. */
import { s } from '../../../schema/builders.ts';
import { invalid, notSupported } from '../../../schema/field-error.ts';
import { dnsLabel, inRange } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { backsteps } from '../meta/paths.ts';
import {
  azureDiskRule,
  fibreChannelRule,
  flexOptionsRule,
  flockerRule,
  iscsiName,
  quobyteRule,
} from './volume-source-rules.ts';

const readOnly = s.boolean({ omitZero: true, description: 'Mounts the volume read-only. Defaults to false.' });
const fsType = s.string({
  omitZero: true,
  description: 'File system of the volume, such as ext4 or xfs. Defaults to ext4.',
});

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

export const HostPathVolumeSource = s.object(
  'HostPathVolumeSource',
  {
    path: s.string({
      required: true,
      description: 'Absolute path on the node. A symbolic link is followed.',
      rules: [matches(backsteps)],
    }),
    type: s.string({
      default: '',
      description:
        'What must be at the path: Directory, File, Socket, CharDevice or BlockDevice; DirectoryOrCreate and ' +
        'FileOrCreate create it if missing. Empty, the default, checks nothing.',
      rules: [(type: string) => (hostPathTypes.includes(type) ? undefined : notSupported('', type, hostPathTypes))],
    }),
  },
  {
    description:
      'A file or directory of the node, shared with the pod. It exposes the node to the pod; use it only where ' +
      'that is intended.',
  },
);

export const NFSVolumeSource = s.object(
  'NFSVolumeSource',
  {
    server: s.string({ required: true, description: 'Host name or IP address of the NFS server.' }),
    path: s.string({
      required: true,
      description: 'Path that the server exports. Must be absolute.',
      rules: [matches((path) => (path.startsWith('/') ? [] : ['must be an absolute path']))],
    }),
    readOnly,
  },
  { description: 'A directory exported by an NFS server.' },
);

/** Partition; 0 means the whole disk. */
const partition = s.int32({
  omitZero: true,
  description: 'Partition to mount, from 1 to 255. 0, the default, means the whole disk.',
  rules: [(number: number) => inRange(number, 1, 255).map((complaint) => invalid('', number, complaint))],
});

export const GCEPersistentDiskVolumeSource = s.object(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: s.string({ required: true, description: 'Name of the disk in Google Compute Engine.' }),
    fsType,
    partition,
    readOnly,
  },
  { description: 'A Google Compute Engine persistent disk. Deprecated: use the CSI driver pd.csi.storage.gke.io.' },
);

export const AWSElasticBlockStoreVolumeSource = s.object(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: s.string({ required: true, description: 'ID of the EBS volume.' }),
    fsType,
    partition,
    readOnly,
  },
  { description: 'An AWS EBS volume. Deprecated: use the CSI driver ebs.csi.aws.com.' },
);

export const FCVolumeSource = s.object(
  'FCVolumeSource',
  {
    targetWWNs: s.list(s.string(), {
      description: 'World wide names of the target ports. Required together with lun.',
    }),
    lun: s.int32({ description: 'LUN of the disk on the target, from 0 to 255. Required together with targetWWNs.' }),
    fsType,
    readOnly,
    wwids: s.list(s.string(), {
      description: 'World wide identifiers of the volume. Cannot be combined with targetWWNs and lun.',
    }),
  },
  { description: 'A Fibre Channel disk. Set either targetWWNs and lun, or wwids.', rules: [fibreChannelRule] },
);

export const FlockerVolumeSource = s.object(
  'FlockerVolumeSource',
  {
    datasetName: s.string({ omitZero: true, description: 'Name of the dataset.' }),
    datasetUUID: s.string({ omitZero: true, description: 'UUID of the dataset.' }),
  },
  {
    description: 'A Flocker dataset. Deprecated and no longer functional. Exactly one of its fields must be set.',
    rules: [flockerRule],
  },
);

export const VsphereVirtualDiskVolumeSource = s.object(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: s.string({ required: true, description: 'Path of the VMDK file.' }),
    fsType,
    storagePolicyName: s.string({ omitZero: true, description: 'Name of the storage policy profile.' }),
    storagePolicyID: s.string({ omitZero: true, description: 'ID of the storage policy profile.' }),
  },
  { description: 'A vSphere virtual disk. Deprecated: use the CSI driver csi.vsphere.vmware.com.' },
);

export const QuobyteVolumeSource = s.object(
  'QuobyteVolumeSource',
  {
    registry: s.string({
      required: 'must be a host:port pair or multiple pairs separated by commas',
      description: 'Addresses of the Quobyte registry as host:port, several separated by commas.',
    }),
    volume: s.string({ required: true, description: 'Name of the Quobyte volume.' }),
    readOnly,
    user: s.string({
      omitZero: true,
      description: 'User that accesses the volume. Defaults to the service account user.',
    }),
    group: s.string({ omitZero: true, description: 'Group that accesses the volume. Defaults to no group.' }),
    tenant: s.string({ omitZero: true, description: 'Tenant that owns the volume.' }),
  },
  { description: 'A Quobyte volume. Deprecated and no longer functional.', rules: [quobyteRule] },
);

export const AzureDiskVolumeSource = s.object(
  'AzureDiskVolumeSource',
  {
    diskName: s.string({ required: true, description: 'Name of the disk in the blob storage.' }),
    diskURI: s.string({
      required: true,
      description: 'URI of the disk in the blob storage, or resource ID of a managed disk.',
    }),
    cachingMode: s.enum(['None', 'ReadOnly', 'ReadWrite'], {
      default: 'ReadWrite',
      description: 'Host caching: None, ReadOnly or ReadWrite. Defaults to ReadWrite.',
    }),
    fsType: s.string({ default: 'ext4', description: 'File system of the volume. Defaults to ext4.' }),
    readOnly: s.boolean({ default: false, description: 'Mounts the volume read-only. Defaults to false.' }),
    kind: s.enum(['Dedicated', 'Managed', 'Shared'], {
      default: 'Shared',
      description:
        'Shared for several blob disks per storage account, Dedicated for one, Managed for a managed disk. ' +
        'Defaults to Shared.',
    }),
  },
  { description: 'An Azure data disk. Deprecated: use the CSI driver disk.csi.azure.com.', rules: [azureDiskRule] },
);

export const PhotonPersistentDiskVolumeSource = s.object(
  'PhotonPersistentDiskVolumeSource',
  {
    pdID: s.string({ required: true, description: 'ID of the disk.' }),
    fsType,
  },
  { description: 'A Photon Controller persistent disk. Deprecated and no longer functional.' },
);

export const PortworxVolumeSource = s.object(
  'PortworxVolumeSource',
  {
    volumeID: s.string({ required: true, description: 'ID of the Portworx volume.' }),
    fsType,
    readOnly,
  },
  { description: 'A Portworx volume. Deprecated: use the CSI driver pxd.portworx.com.' },
);

/*
 * The sources below exist in two forms: in a pod their secret is in the pod's namespace; in a PersistentVolume the
 * reference names the namespace. The other fields are the same.
 */

export const glusterfsFields = {
  endpoints: s.string({ required: true, description: 'Name of the Endpoints object that lists the Gluster servers.' }),
  path: s.string({ required: true, description: 'Name of the Gluster volume.' }),
  readOnly,
};

export const rbdFields = {
  monitors: s.list(s.string(), { required: true, description: 'Addresses of the Ceph monitors.' }),
  image: s.string({ required: true, description: 'Name of the RADOS image.' }),
  fsType,
  pool: s.string({ default: 'rbd', description: 'Name of the RADOS pool. Defaults to rbd.' }),
  user: s.string({ default: 'admin', description: 'RADOS user. Defaults to admin.' }),
  keyring: s.string({
    default: '/etc/ceph/keyring',
    description: 'Path of the key ring of the user. Defaults to /etc/ceph/keyring.',
  }),
  readOnly,
};

export const iscsiFields = {
  targetPortal: s.string({
    required: true,
    description: 'Address of the iSCSI target, as an IP address or host:port. The default port is 3260.',
  }),
  iqn: s.string({ required: true, description: 'Qualified name of the iSCSI target.', rules: [matches(iscsiName)] }),
  lun: s.int32({ zero: true, min: 0, max: 255, description: 'LUN of the target, from 0 to 255.' }),
  iscsiInterface: s.string({ default: 'default', description: 'iSCSI interface to use. Defaults to default (tcp).' }),
  fsType,
  readOnly,
  portals: s.list(s.string(), { description: 'Addresses of further portals of the target, for multipath.' }),
  chapAuthDiscovery: s.boolean({
    omitZero: true,
    description: 'Whether discovery uses CHAP authentication. Requires secretRef.',
  }),
  chapAuthSession: s.boolean({
    omitZero: true,
    description: 'Whether sessions use CHAP authentication. Requires secretRef.',
  }),
  initiatorName: s.string({
    description:
      'Qualified name of the initiator. If set, a new interface <target portal>:<volume name> is created for ' +
      'the connection.',
    rules: [matches(iscsiName)],
  }),
};

export const cinderFields = {
  volumeID: s.string({ required: true, description: 'ID of the Cinder volume.' }),
  fsType,
  readOnly,
};

export const cephfsFields = {
  monitors: s.list(s.string(), { required: true, description: 'Addresses of the Ceph monitors.' }),
  path: s.string({
    omitZero: true,
    description: 'Directory of the file system that is mounted as root. Defaults to /.',
  }),
  user: s.string({ omitZero: true, description: 'RADOS user. Defaults to admin.' }),
  secretFile: s.string({
    omitZero: true,
    description: 'Path of the key ring of the user on the node. Defaults to /etc/ceph/user.secret.',
  }),
  readOnly,
};

export const flexVolumeFields = {
  driver: s.string({ required: true, description: 'Name of the FlexVolume driver.' }),
  fsType: s.use(fsType, { description: 'File system of the volume. The default depends on the driver.' }),
  readOnly,
  options: s.map(s.string(), {
    description: 'Options that are passed to the driver. The prefixes kubernetes.io/ and k8s.io/ are reserved.',
    rules: [flexOptionsRule],
  }),
};

export const azureFileFields = {
  secretName: s.string({
    required: true,
    description: 'Name of the Secret with the name and the key of the storage account.',
  }),
  shareName: s.string({ required: true, description: 'Name of the Azure file share.' }),
  readOnly,
};

export const scaleIOFields = {
  gateway: s.string({ required: true, description: 'Host address of the ScaleIO API gateway.' }),
  system: s.string({ required: true, description: 'Name of the ScaleIO system.' }),
  sslEnabled: s.boolean({
    omitZero: true,
    description: 'Whether the gateway is accessed through TLS. Defaults to false.',
  }),
  protectionDomain: s.string({ omitZero: true, description: 'ScaleIO protection domain of the storage.' }),
  storagePool: s.string({ omitZero: true, description: 'Storage pool within the protection domain.' }),
  storageMode: s.string({
    default: 'ThinProvisioned',
    description: 'ThickProvisioned or ThinProvisioned. Defaults to ThinProvisioned.',
  }),
  volumeName: s.string({ required: true, description: 'Name of an existing ScaleIO volume.' }),
  fsType: s.string({ default: 'xfs', description: 'File system of the volume. Defaults to xfs.' }),
  readOnly,
};

export const storageOSFields = {
  volumeName: s.string({
    required: true,
    description: 'Name of the StorageOS volume, unique within its namespace.',
    rules: [matches(dnsLabel)],
  }),
  volumeNamespace: s.string({
    omitZero: true,
    description: 'Namespace of the volume within StorageOS. Defaults to the namespace of the pod.',
    rules: [matches(dnsLabel)],
  }),
  fsType,
  readOnly,
};
