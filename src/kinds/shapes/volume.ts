/** A volume of a pod: a name, and one source. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
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

const sources = {
  hostPath: HostPathVolumeSource,
  emptyDir: EmptyDirVolumeSource,
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

export const Volume = s.object('Volume', {
  name: s.string({ required: true }),
  ...sources,
});
export type Volume = TypeOf<typeof Volume>;
