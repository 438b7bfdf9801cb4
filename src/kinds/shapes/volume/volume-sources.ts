/** Volume sources that both pods and PersistentVolumes can use. */
import { s } from '../../../schema/builders.ts';
import { invalid, notSupported } from '../../../schema/field-error.ts';
import { dnsLabel, inRange } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { Fields } from '../../../schema/schema.ts';
import { backsteps } from '../meta/paths.ts';
import {
  azureDiskRule,
  fibreChannelRule,
  flexOptionsRule,
  flockerRule,
  iscsiName,
  quobyteRule,
} from './volume-source-rules.ts';

const readOnly = s.boolean('Mounts the volume read-only. Defaults to false.', { omitZero: true });
const fsType = s.string('File system of the volume, such as ext4 or xfs. Defaults to ext4.', { omitZero: true });

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

export const HostPathVolumeSource = s.object(
  'HostPathVolumeSource',
  'A file or directory of the node, shared with the pod. It exposes the node to the pod; use it only where ' +
    'that is intended.',
  {
    path: s.string('Absolute path on the node. A symbolic link is followed.', {
      required: true,
      rules: [matches(backsteps)],
    }),
    type: s.string(
      'What must be at the path: Directory, File, Socket, CharDevice or BlockDevice; DirectoryOrCreate and ' +
        'FileOrCreate create it if missing. Empty, the default, checks nothing.',
      {
        default: '',
        rules: [(type: string) => (hostPathTypes.includes(type) ? undefined : notSupported('', type, hostPathTypes))],
      },
    ),
  },
);

export const NFSVolumeSource = s.object('NFSVolumeSource', 'A directory exported by an NFS server.', {
  server: s.string('Host name or IP address of the NFS server.', { required: true }),
  path: s.string('Path that the server exports. Must be absolute.', {
    required: true,
    rules: [matches((path) => (path.startsWith('/') ? [] : ['must be an absolute path']))],
  }),
  readOnly,
});

/** Partition; 0 means the whole disk. */
const partition = s.int32('Partition to mount, from 1 to 255. 0, the default, means the whole disk.', {
  omitZero: true,
  rules: [(number: number) => inRange(number, 1, 255).map((complaint) => invalid('', number, complaint))],
});

export const GCEPersistentDiskVolumeSource = s.object(
  'GCEPersistentDiskVolumeSource',
  'A Google Compute Engine persistent disk. Deprecated: use the CSI driver pd.csi.storage.gke.io.',
  {
    pdName: s.string('Name of the disk in Google Compute Engine.', { required: true }),
    fsType,
    partition,
    readOnly,
  },
);

export const AWSElasticBlockStoreVolumeSource = s.object(
  'AWSElasticBlockStoreVolumeSource',
  'An AWS EBS volume. Deprecated: use the CSI driver ebs.csi.aws.com.',
  {
    volumeID: s.string('ID of the EBS volume.', { required: true }),
    fsType,
    partition,
    readOnly,
  },
);

export const FCVolumeSource = s.object(
  'FCVolumeSource',
  'A Fibre Channel disk. Set either targetWWNs and lun, or wwids.',
  {
    targetWWNs: s.list(s.string(), 'World wide names of the target ports. Required together with lun.'),
    lun: s.int32('LUN of the disk on the target, from 0 to 255. Required together with targetWWNs.'),
    fsType,
    readOnly,
    wwids: s.list(s.string(), 'World wide identifiers of the volume. Cannot be combined with targetWWNs and lun.'),
  },
  { rules: [fibreChannelRule] },
);

export const FlockerVolumeSource = s.object(
  'FlockerVolumeSource',
  'A Flocker dataset. Deprecated and no longer functional. Exactly one of its fields must be set.',
  {
    datasetName: s.string('Name of the dataset.', { omitZero: true }),
    datasetUUID: s.string('UUID of the dataset.', { omitZero: true }),
  },
  { rules: [flockerRule] },
);

export const VsphereVirtualDiskVolumeSource = s.object(
  'VsphereVirtualDiskVolumeSource',
  'A vSphere virtual disk. Deprecated: use the CSI driver csi.vsphere.vmware.com.',
  {
    volumePath: s.string('Path of the VMDK file.', { required: true }),
    fsType,
    storagePolicyName: s.string('Name of the storage policy profile.', { omitZero: true }),
    storagePolicyID: s.string('ID of the storage policy profile.', { omitZero: true }),
  },
);

export const QuobyteVolumeSource = s.object(
  'QuobyteVolumeSource',
  'A Quobyte volume. Deprecated and no longer functional.',
  {
    registry: s.string('Addresses of the Quobyte registry as host:port, several separated by commas.', {
      required: 'must be a host:port pair or multiple pairs separated by commas',
    }),
    volume: s.string('Name of the Quobyte volume.', { required: true }),
    readOnly,
    user: s.string('User that accesses the volume. Defaults to the service account user.', { omitZero: true }),
    group: s.string('Group that accesses the volume. Defaults to no group.', { omitZero: true }),
    tenant: s.string('Tenant that owns the volume.', { omitZero: true }),
  },
  { rules: [quobyteRule] },
);

export const AzureDiskVolumeSource = s.object(
  'AzureDiskVolumeSource',
  'An Azure data disk. Deprecated: use the CSI driver disk.csi.azure.com.',
  {
    diskName: s.string('Name of the disk in the blob storage.', { required: true }),
    diskURI: s.string('URI of the disk in the blob storage, or resource ID of a managed disk.', { required: true }),
    cachingMode: s.enum(
      ['None', 'ReadOnly', 'ReadWrite'],
      'Host caching: None, ReadOnly or ReadWrite. Defaults to ReadWrite.',
      { default: 'ReadWrite' },
    ),
    fsType: s.string('File system of the volume. Defaults to ext4.', { default: 'ext4' }),
    readOnly: s.boolean('Mounts the volume read-only. Defaults to false.', { default: false }),
    kind: s.enum(
      ['Dedicated', 'Managed', 'Shared'],
      'Shared for several blob disks per storage account, Dedicated for one, Managed for a managed disk. ' +
        'Defaults to Shared.',
      { default: 'Shared' },
    ),
  },
  { rules: [azureDiskRule] },
);

export const PhotonPersistentDiskVolumeSource = s.object(
  'PhotonPersistentDiskVolumeSource',
  'A Photon Controller persistent disk. Deprecated and no longer functional.',
  {
    pdID: s.string('ID of the disk.', { required: true }),
    fsType,
  },
);

export const PortworxVolumeSource = s.object(
  'PortworxVolumeSource',
  'A Portworx volume. Deprecated: use the CSI driver pxd.portworx.com.',
  {
    volumeID: s.string('ID of the Portworx volume.', { required: true }),
    fsType,
    readOnly,
  },
);

/**
 * A source that exists in two forms: in a pod its secret is in the pod's namespace; in a PersistentVolume the reference
 * names the namespace. The other fields are the same.
 */
const inBothForms =
  <const F extends Fields>(name: string, description: string, fields: F) =>
  <const O extends Fields>(form: '' | 'Persistent', own: O) =>
    s.object(`${name}${form}VolumeSource`, description, { ...fields, ...own });

export const glusterfsSource = inBothForms('Glusterfs', 'A Gluster volume. Deprecated and no longer functional.', {
  endpoints: s.string('Name of the Endpoints object that lists the Gluster servers.', { required: true }),
  path: s.string('Name of the Gluster volume.', { required: true }),
  readOnly,
});

export const rbdSource = inBothForms('RBD', 'A Ceph RADOS block device. Deprecated and no longer functional.', {
  monitors: s.list(s.string(), 'Addresses of the Ceph monitors.', { required: true }),
  image: s.string('Name of the RADOS image.', { required: true }),
  fsType,
  pool: s.string('Name of the RADOS pool. Defaults to rbd.', { default: 'rbd' }),
  user: s.string('RADOS user. Defaults to admin.', { default: 'admin' }),
  keyring: s.string('Path of the key ring of the user. Defaults to /etc/ceph/keyring.', {
    default: '/etc/ceph/keyring',
  }),
  readOnly,
});

export const iscsiSource = inBothForms('ISCSI', 'An iSCSI disk that is attached to the node of the pod.', {
  targetPortal: s.string('Address of the iSCSI target, as an IP address or host:port. The default port is 3260.', {
    required: true,
  }),
  iqn: s.string('Qualified name of the iSCSI target.', { required: true, rules: [matches(iscsiName)] }),
  lun: s.int32('LUN of the target, from 0 to 255.', { zero: true, min: 0, max: 255 }),
  iscsiInterface: s.string('iSCSI interface to use. Defaults to default (tcp).', { default: 'default' }),
  fsType,
  readOnly,
  portals: s.list(s.string(), 'Addresses of further portals of the target, for multipath.'),
  chapAuthDiscovery: s.boolean('Whether discovery uses CHAP authentication. Requires secretRef.', { omitZero: true }),
  chapAuthSession: s.boolean('Whether sessions use CHAP authentication. Requires secretRef.', { omitZero: true }),
  initiatorName: s.string(
    'Qualified name of the initiator. If set, a new interface <target portal>:<volume name> is created for ' +
      'the connection.',
    { rules: [matches(iscsiName)] },
  ),
});

export const cinderSource = inBothForms(
  'Cinder',
  'An OpenStack Cinder volume. Deprecated: use the CSI driver cinder.csi.openstack.org.',
  {
    volumeID: s.string('ID of the Cinder volume.', { required: true }),
    fsType,
    readOnly,
  },
);

export const cephfsSource = inBothForms(
  'CephFS',
  'A directory of a Ceph file system. Deprecated and no longer functional.',
  {
    monitors: s.list(s.string(), 'Addresses of the Ceph monitors.', { required: true }),
    path: s.string('Directory of the file system that is mounted as root. Defaults to /.', { omitZero: true }),
    user: s.string('RADOS user. Defaults to admin.', { omitZero: true }),
    secretFile: s.string('Path of the key ring of the user on the node. Defaults to /etc/ceph/user.secret.', {
      omitZero: true,
    }),
    readOnly,
  },
);

export const flexVolumeFields = {
  driver: s.string('Name of the FlexVolume driver.', { required: true }),
  fsType: s.use(fsType, 'File system of the volume. The default depends on the driver.'),
  readOnly,
  options: s.map(
    s.string(),
    'Options that are passed to the driver. The prefixes kubernetes.io/ and k8s.io/ are reserved.',
    { rules: [flexOptionsRule] },
  ),
};

export const azureFileSource = inBothForms(
  'AzureFile',
  'An Azure file share. Deprecated: use the CSI driver file.csi.azure.com.',
  {
    secretName: s.string('Name of the Secret with the name and the key of the storage account.', { required: true }),
    shareName: s.string('Name of the Azure file share.', { required: true }),
    readOnly,
  },
);

export const scaleIOSource = inBothForms('ScaleIO', 'A ScaleIO volume. Deprecated and no longer functional.', {
  gateway: s.string('Host address of the ScaleIO API gateway.', { required: true }),
  system: s.string('Name of the ScaleIO system.', { required: true }),
  sslEnabled: s.boolean('Whether the gateway is accessed through TLS. Defaults to false.', { omitZero: true }),
  protectionDomain: s.string('ScaleIO protection domain of the storage.', { omitZero: true }),
  storagePool: s.string('Storage pool within the protection domain.', { omitZero: true }),
  storageMode: s.string('ThickProvisioned or ThinProvisioned. Defaults to ThinProvisioned.', {
    default: 'ThinProvisioned',
  }),
  volumeName: s.string('Name of an existing ScaleIO volume.', { required: true }),
  fsType: s.string('File system of the volume. Defaults to xfs.', { default: 'xfs' }),
  readOnly,
});

export const storageOSSource = inBothForms('StorageOS', 'A StorageOS volume. Deprecated and no longer functional.', {
  volumeName: s.string('Name of the StorageOS volume, unique within its namespace.', {
    required: true,
    rules: [matches(dnsLabel)],
  }),
  volumeNamespace: s.string('Namespace of the volume within StorageOS. Defaults to the namespace of the pod.', {
    omitZero: true,
    rules: [matches(dnsLabel)],
  }),
  fsType,
  readOnly,
});
