import { expect, test } from 'vitest';
import { specErrors, volumeErrors } from '../../../../test/support/kinds/test-pod.ts';

const mode = 'must be a number between 0 and 0777 (octal), both inclusive';

test.each([
  [{ hostPath: { path: '/x', type: 'Directory' } }],
  [{ nfs: { server: 's', path: '/x' } }],
  [{ gcePersistentDisk: { pdName: 'x' } }],
  [{ awsElasticBlockStore: { volumeID: 'x', partition: 1 } }],
  [{ iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2015-02.example.com:test', lun: 0 } }],
  [{ glusterfs: { endpoints: 'e', path: 'p' } }],
  [{ rbd: { monitors: ['m'], image: 'i' } }],
  [{ flexVolume: { driver: 'd', options: { 'example.com/a': 'b' } } }],
  [{ cinder: { volumeID: 'x' } }],
  [{ cephfs: { monitors: ['m'] } }],
  [{ flocker: { datasetName: 'x' } }],
  [{ fc: { targetWWNs: ['w'], lun: 1 } }],
  [{ azureFile: { secretName: 's', shareName: 'x' } }],
  [{ azureDisk: { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' } }],
  [{ vsphereVolume: { volumePath: 'p' } }],
  [{ quobyte: { registry: 'a:1,[::1]:2', volume: 'v' } }],
  [{ photonPersistentDisk: { pdID: 'p' } }],
  [{ portworxVolume: { volumeID: 'v' } }],
  [{ scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 's' } } }],
  [{ storageos: { volumeName: 'v' } }],
  [{ csi: { driver: 'CSI.example.com', nodePublishSecretRef: { name: 's' } } }],
  [{ gitRepo: { repository: 'r', directory: 'd' } }],
  [{ emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }],
  [
    {
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      },
    },
  ],
])('%j is a source', (source) => {
  expect(volumeErrors(source)).toEqual([]);
});

test.each<[object, ...string[]]>([
  [{ name: '' }, 'name: Required value'],
  [{ name: 'a.b' }, 'name: Invalid value: "a.b": must not contain dots'],
  [
    { emptyDir: {}, hostPath: { path: '/x' }, secret: { secretName: 's' } },
    'hostPath: Forbidden: may not specify more than 1 volume type',
    'secret: Forbidden: may not specify more than 1 volume type',
  ],
  [{ hostPath: {} }, 'hostPath.path: Required value'],
  [{ hostPath: { path: '/a/../b' } }, `hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
  [
    { hostPath: { path: '/a', type: 'x' } },
    'hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", ' +
      '"DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
  ],
  [{ nfs: { server: 's', path: 'x' } }, 'nfs.path: Invalid value: "x": must be an absolute path'],
  [
    { gcePersistentDisk: { pdName: 'x', partition: 300 } },
    'gcePersistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive',
  ],
  [
    { iscsi: { targetPortal: 't', iqn: 'x', chapAuthSession: true } },
    'iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
    'iscsi.secretRef: Required value',
  ],
  [
    { flexVolume: { driver: 'd', options: { 'x.k8s.io/a': 'b' } } },
    'flexVolume.options[x.k8s.io/a]: Invalid value: "x.k8s.io/a": kubernetes.io and k8s.io namespaces are reserved',
  ],
  [{ flocker: {} }, 'flocker: Required value: one of datasetName and datasetUUID is required'],
  [{ fc: {} }, 'fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
  [
    { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed' } },
    'azureDisk.diskURI: Unsupported value: "x": supported values: ' +
      '"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
  ],
  [
    { quobyte: { volume: 'v' } },
    'quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas',
  ],
  [{ storageos: { volumeName: 'v', secretRef: {} } }, 'storageos.secretRef.name: Required value'],
  [{ csi: {} }, 'csi.driver: Required value'],
  [{ secret: {} }, 'secret.secretName: Required value'],
  [{ configMap: { name: 'c', defaultMode: 0o1000 } }, `configMap.defaultMode: Invalid value: 512: ${mode}`],
  [
    { configMap: { name: 'c', items: [{ key: 'k', path: '/p', mode: -1 }] } },
    'configMap.items[0].path: Invalid value: "/p": must be a relative path',
    `configMap.items[0].mode: Invalid value: -1: ${mode}`,
  ],
  [
    { secret: { secretName: 's', items: [{ key: 'k', path: '..p' }] } },
    `secret.items[0].path: Invalid value: "..p": must not start with '..'`,
  ],
  [
    { downwardAPI: { items: [{ path: 'p' }] } },
    'downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required',
  ],
  [
    { downwardAPI: { items: [{ path: 'p', resourceFieldRef: { resource: 'limits.cpu' } }] } },
    'downwardAPI.items[0].resourceFieldRef.containerName: Required value',
  ],
  [
    { emptyDir: { sizeLimit: '-1' } },
    'emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity',
  ],
  [{ image: {} }, 'image.reference: Required value'],
  [{ ephemeral: {} }, 'ephemeral.volumeClaimTemplate: Required value'],
  [
    { ephemeral: { volumeClaimTemplate: { metadata: { name: 'x' }, spec: {} } } },
    'ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
    'ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
    'ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
  ],
])('%j is not', (source, ...errors) => {
  expect(volumeErrors(source)).toEqual(errors);
});

test.each<[object[], ...string[]]>([
  [
    [{ secret: { name: 's' }, configMap: { name: 'c' } }],
    'sources[0]: Forbidden: may not specify more than 1 volume type per source',
  ],
  [[{ secret: {} }], 'sources[0].secret.name: Required value'],
  [
    [{ serviceAccountToken: { path: 't', expirationSeconds: 10 } }],
    'sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
  ],
  [
    [
      { secret: { name: 's', items: [{ key: 'k', path: 'p' }] } },
      { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
    ],
    'sources: Invalid value: "c": conflicting duplicate paths',
  ],
  [
    [{ clusterTrustBundle: { path: 'p' } }],
    'sources[0].clusterTrustBundle: Required value: either name or signerName must be specified',
  ],
  [
    [{ podCertificate: { signerName: 'example.com/s', keyType: 'ED25519' } }],
    'sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
  ],
  [
    [{ podCertificate: { maxExpirationSeconds: 4000, keyType: 'ED25519', keyPath: 'k' } }],
    'sources[0].podCertificate.signerName: Required value',
  ],
  [
    [{ podCertificate: { signerName: 's', keyType: 'DSA', keyPath: 'k' } }],
    'sources[0].podCertificate.signerName: Invalid value: "s": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
    'sources[0].podCertificate.keyType: Unsupported value: "DSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
  ],
])('projected from %j', (sources, ...errors) => {
  expect(volumeErrors({ projected: { sources } })).toEqual(errors.map((error) => `projected.${error}`));
});

test('names of volumes differ', () => {
  expect(specErrors({ volumes: [{ name: 'v' }, { name: 'v' }] })).toEqual([
    'spec.volumes[1].name: Duplicate value: "v"',
  ]);
});

test('a token needs an account', () => {
  const volumes = [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }];
  expect(specErrors({ volumes })).toEqual([
    'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ]);
});

test('a pod does not name the claim that is made for it', () => {
  const template = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const volumes = [
    { name: 'v', ephemeral: { volumeClaimTemplate: template } },
    { name: 'w', persistentVolumeClaim: { claimName: 'a-v' } },
  ];
  expect(specErrors({ volumes })).toEqual([
    'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "a-v": must not reference a PVC that gets created for an ephemeral volume',
  ]);
});
