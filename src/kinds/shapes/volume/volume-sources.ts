/** Storage outside the pod that both a pod's volume and a PersistentVolume can name. */
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

const text = s.string({ omitZero: true });
const readOnly = s.boolean({ omitZero: true });

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

export const HostPathVolumeSource = s.object('HostPathVolumeSource', {
  path: s.string({ required: true, rules: [matches(backsteps)] }),
  type: s.string({
    default: '',
    rules: [(type: string) => (hostPathTypes.includes(type) ? undefined : notSupported('', type, hostPathTypes))],
  }),
});

export const NFSVolumeSource = s.object('NFSVolumeSource', {
  server: s.string({ required: true }),
  path: s.string({
    required: true,
    rules: [matches((path) => (path.startsWith('/') ? [] : ['must be an absolute path']))],
  }),
  readOnly,
});

/** 0 is the whole disk. */
const partition = s.int32({
  omitZero: true,
  rules: [(number: number) => inRange(number, 1, 255).map((complaint) => invalid('', number, complaint))],
});

export const GCEPersistentDiskVolumeSource = s.object('GCEPersistentDiskVolumeSource', {
  pdName: s.string({ required: true }),
  fsType: text,
  partition,
  readOnly,
});

export const AWSElasticBlockStoreVolumeSource = s.object('AWSElasticBlockStoreVolumeSource', {
  volumeID: s.string({ required: true }),
  fsType: text,
  partition,
  readOnly,
});

export const FCVolumeSource = s.object(
  'FCVolumeSource',
  { targetWWNs: s.list(s.string()), lun: s.int32(), fsType: text, readOnly, wwids: s.list(s.string()) },
  { rules: [fibreChannelRule] },
);

export const FlockerVolumeSource = s.object(
  'FlockerVolumeSource',
  { datasetName: text, datasetUUID: text },
  { rules: [flockerRule] },
);

export const VsphereVirtualDiskVolumeSource = s.object('VsphereVirtualDiskVolumeSource', {
  volumePath: s.string({ required: true }),
  fsType: text,
  storagePolicyName: text,
  storagePolicyID: text,
});

export const QuobyteVolumeSource = s.object(
  'QuobyteVolumeSource',
  {
    registry: s.string({ required: 'must be a host:port pair or multiple pairs separated by commas' }),
    volume: s.string({ required: true }),
    readOnly,
    user: text,
    group: text,
    tenant: text,
  },
  { rules: [quobyteRule] },
);

export const AzureDiskVolumeSource = s.object(
  'AzureDiskVolumeSource',
  {
    diskName: s.string({ required: true }),
    diskURI: s.string({ required: true }),
    cachingMode: s.enum(['None', 'ReadOnly', 'ReadWrite'], { default: 'ReadWrite' }),
    fsType: s.string({ default: 'ext4' }),
    readOnly: s.boolean({ default: false }),
    kind: s.enum(['Dedicated', 'Managed', 'Shared'], { default: 'Shared' }),
  },
  { rules: [azureDiskRule] },
);

export const PhotonPersistentDiskVolumeSource = s.object('PhotonPersistentDiskVolumeSource', {
  pdID: s.string({ required: true }),
  fsType: text,
});

export const PortworxVolumeSource = s.object('PortworxVolumeSource', {
  volumeID: s.string({ required: true }),
  fsType: text,
  readOnly,
});

/*
 * The sources below exist twice: in a pod their secret is in the pod's namespace, in a PersistentVolume it names a
 * namespace of its own. Their other fields are the same.
 */

export const glusterfsFields = {
  endpoints: s.string({ required: true }),
  path: s.string({ required: true }),
  readOnly,
};

export const rbdFields = {
  monitors: s.list(s.string(), { required: true }),
  image: s.string({ required: true }),
  fsType: text,
  pool: s.string({ default: 'rbd' }),
  user: s.string({ default: 'admin' }),
  keyring: s.string({ default: '/etc/ceph/keyring' }),
  readOnly,
};

export const iscsiFields = {
  targetPortal: s.string({ required: true }),
  iqn: s.string({ required: true, rules: [matches(iscsiName)] }),
  lun: s.int32({ zero: true, min: 0, max: 255 }),
  iscsiInterface: s.string({ default: 'default' }),
  fsType: text,
  readOnly,
  portals: s.list(s.string()),
  chapAuthDiscovery: s.boolean({ omitZero: true }),
  chapAuthSession: s.boolean({ omitZero: true }),
  initiatorName: s.string({ rules: [matches(iscsiName)] }),
};

export const cinderFields = {
  volumeID: s.string({ required: true }),
  fsType: text,
  readOnly,
};

export const cephfsFields = {
  monitors: s.list(s.string(), { required: true }),
  path: text,
  user: text,
  secretFile: text,
  readOnly,
};

export const flexVolumeFields = {
  driver: s.string({ required: true }),
  fsType: text,
  readOnly,
  options: s.map(s.string(), { rules: [flexOptionsRule] }),
};

export const azureFileFields = {
  secretName: s.string({ required: true }),
  shareName: s.string({ required: true }),
  readOnly,
};

export const scaleIOFields = {
  gateway: s.string({ required: true }),
  system: s.string({ required: true }),
  sslEnabled: s.boolean({ omitZero: true }),
  protectionDomain: text,
  storagePool: text,
  storageMode: s.string({ default: 'ThinProvisioned' }),
  volumeName: s.string({ required: true }),
  fsType: s.string({ default: 'xfs' }),
  readOnly,
};

export const storageOSFields = {
  volumeName: s.string({ required: true, rules: [matches(dnsLabel)] }),
  volumeNamespace: s.string({ omitZero: true, rules: [matches(dnsLabel)] }),
  fsType: text,
  readOnly,
};
