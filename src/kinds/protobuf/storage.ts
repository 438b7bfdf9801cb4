import type { FieldNumbers } from './field-numbers.ts';

export const storage: FieldNumbers = {
  'storage.k8s.io/v1': {
    CSIDriver: 'metadata spec',
    CSIDriverSpec:
      'attachRequired? podInfoOnMount? volumeLifecycleModes storageCapacity? fsGroupPolicy? tokenRequests requiresRepublish? seLinuxMount? nodeAllocatableUpdatePeriodSeconds? serviceAccountTokenInSecrets? preventPodSchedulingIfMissing?',
    CSINode: 'metadata spec',
    CSINodeDriver: 'name nodeID topologyKeys allocatable',
    CSINodeSpec: 'drivers',
    CSIStorageCapacity: 'metadata nodeTopology storageClassName capacity maximumVolumeSize',
    StorageClass:
      'metadata provisioner parameters reclaimPolicy? mountOptions allowVolumeExpansion? volumeBindingMode? allowedTopologies',
    TokenRequest: 'audience expirationSeconds?',
    VolumeAttachment: 'metadata spec status',
    VolumeAttachmentSource: 'persistentVolumeName? inlineVolumeSpec',
    VolumeAttachmentSpec: 'attacher source nodeName',
    VolumeAttachmentStatus: 'attached attachmentMetadata attachError detachError',
    VolumeAttributesClass: 'metadata driverName parameters',
    VolumeError: 'time message errorCode?',
    VolumeNodeResources: 'count?',
  },
};
