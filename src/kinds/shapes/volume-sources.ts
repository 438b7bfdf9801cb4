/** Storage outside the pod that both a pod's volume and a PersistentVolume can name. */
import { s } from '../../schema/builders.ts';

export const HostPathVolumeSource = s.object('HostPathVolumeSource', {
  path: s.string({ required: true }),
  type: s.string({ default: '' }),
});

export const NFSVolumeSource = s.object('NFSVolumeSource', {
  server: s.string({ required: true }),
  path: s.string({ required: true }),
  readOnly: s.boolean(),
});

export const GCEPersistentDiskVolumeSource = s.object('GCEPersistentDiskVolumeSource', {
  pdName: s.string({ required: true }),
  fsType: s.string(),
  partition: s.int32(),
  readOnly: s.boolean(),
});

export const AWSElasticBlockStoreVolumeSource = s.object('AWSElasticBlockStoreVolumeSource', {
  volumeID: s.string({ required: true }),
  fsType: s.string(),
  partition: s.int32(),
  readOnly: s.boolean(),
});

export const FCVolumeSource = s.object('FCVolumeSource', {
  targetWWNs: s.list(s.string()),
  lun: s.int32(),
  fsType: s.string(),
  readOnly: s.boolean(),
  wwids: s.list(s.string()),
});

export const FlockerVolumeSource = s.object('FlockerVolumeSource', {
  datasetName: s.string(),
  datasetUUID: s.string(),
});

export const VsphereVirtualDiskVolumeSource = s.object('VsphereVirtualDiskVolumeSource', {
  volumePath: s.string({ required: true }),
  fsType: s.string(),
  storagePolicyName: s.string(),
  storagePolicyID: s.string(),
});

export const QuobyteVolumeSource = s.object('QuobyteVolumeSource', {
  registry: s.string({ zero: true }),
  volume: s.string({ required: true }),
  readOnly: s.boolean(),
  user: s.string(),
  group: s.string(),
  tenant: s.string(),
});

export const AzureDiskVolumeSource = s.object('AzureDiskVolumeSource', {
  diskName: s.string({ required: true }),
  diskURI: s.string({ required: true }),
  cachingMode: s.string({ default: 'ReadWrite' }),
  fsType: s.string({ default: 'ext4' }),
  readOnly: s.boolean({ default: false }),
  kind: s.string({ default: 'Shared' }),
});

export const PhotonPersistentDiskVolumeSource = s.object('PhotonPersistentDiskVolumeSource', {
  pdID: s.string({ required: true }),
  fsType: s.string(),
});

export const PortworxVolumeSource = s.object('PortworxVolumeSource', {
  volumeID: s.string({ required: true }),
  fsType: s.string(),
  readOnly: s.boolean(),
});

/*
 * The sources below exist twice: in a pod their secret is in the pod's namespace, in a PersistentVolume it names a
 * namespace of its own. Their other fields are the same.
 */

export const glusterfsFields = {
  endpoints: s.string({ required: true }),
  path: s.string({ required: true }),
  readOnly: s.boolean(),
};

export const rbdFields = {
  monitors: s.list(s.string(), { required: true }),
  image: s.string({ required: true }),
  fsType: s.string(),
  pool: s.string({ default: 'rbd' }),
  user: s.string({ default: 'admin' }),
  keyring: s.string({ default: '/etc/ceph/keyring' }),
  readOnly: s.boolean(),
};

export const iscsiFields = {
  targetPortal: s.string({ required: true }),
  iqn: s.string({ required: true }),
  lun: s.int32({ zero: true }),
  iscsiInterface: s.string({ default: 'default' }),
  fsType: s.string(),
  readOnly: s.boolean(),
  portals: s.list(s.string()),
  chapAuthDiscovery: s.boolean(),
  chapAuthSession: s.boolean(),
  initiatorName: s.string(),
};

export const cinderFields = {
  volumeID: s.string({ required: true }),
  fsType: s.string(),
  readOnly: s.boolean(),
};

export const cephfsFields = {
  monitors: s.list(s.string(), { required: true }),
  path: s.string(),
  user: s.string(),
  secretFile: s.string(),
  readOnly: s.boolean(),
};

export const flexVolumeFields = {
  driver: s.string({ required: true }),
  fsType: s.string(),
  readOnly: s.boolean(),
  options: s.map(s.string()),
};

export const azureFileFields = {
  secretName: s.string({ required: true }),
  shareName: s.string({ required: true }),
  readOnly: s.boolean(),
};

export const scaleIOFields = {
  gateway: s.string({ required: true }),
  system: s.string({ required: true }),
  sslEnabled: s.boolean(),
  protectionDomain: s.string(),
  storagePool: s.string(),
  storageMode: s.string({ default: 'ThinProvisioned' }),
  volumeName: s.string({ required: true }),
  fsType: s.string({ default: 'xfs' }),
  readOnly: s.boolean(),
};

export const storageOSFields = {
  volumeName: s.string(),
  volumeNamespace: s.string(),
  fsType: s.string(),
  readOnly: s.boolean(),
};
