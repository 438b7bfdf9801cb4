/** Volumes whose files the cluster writes: config maps, secrets, fields of the pod, tokens and certificates. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ObjectFieldSelector, ResourceFieldSelector } from './field-selectors.ts';
import { LabelSelector } from './label-selector.ts';

/** Read for all, write for the owner: 0644. */
const readable = 0o644;

const KeyToPath = s.object('KeyToPath', {
  key: s.string({ required: true }),
  path: s.string({ required: true }),
  mode: s.int32(),
});

const DownwardAPIVolumeFile = s.object('DownwardAPIVolumeFile', {
  path: s.string({ required: true }),
  fieldRef: ObjectFieldSelector,
  resourceFieldRef: ResourceFieldSelector,
  mode: s.int32(),
});
export type DownwardAPIVolumeFile = TypeOf<typeof DownwardAPIVolumeFile>;

export const ConfigMapVolumeSource = s.object('ConfigMapVolumeSource', {
  name: s.string(),
  items: s.list(KeyToPath),
  defaultMode: s.int32({ default: readable }),
  optional: s.boolean(),
});

export const SecretVolumeSource = s.object('SecretVolumeSource', {
  secretName: s.string(),
  items: s.list(KeyToPath),
  defaultMode: s.int32({ default: readable }),
  optional: s.boolean(),
});

export const DownwardAPIVolumeSource = s.object('DownwardAPIVolumeSource', {
  items: s.list(DownwardAPIVolumeFile),
  defaultMode: s.int32({ default: readable }),
});

const keys = { name: s.string(), items: s.list(KeyToPath), optional: s.boolean() };

const VolumeProjection = s.object('VolumeProjection', {
  secret: s.object('SecretProjection', keys),
  downwardAPI: s.object('DownwardAPIProjection', { items: s.list(DownwardAPIVolumeFile) }),
  configMap: s.object('ConfigMapProjection', keys),
  serviceAccountToken: s.object('ServiceAccountTokenProjection', {
    audience: s.string(),
    expirationSeconds: s.int64({ default: 3600 }),
    path: s.string({ required: true }),
  }),
  clusterTrustBundle: s.object('ClusterTrustBundleProjection', {
    name: s.string(),
    signerName: s.string(),
    labelSelector: LabelSelector,
    optional: s.boolean(),
    path: s.string({ required: true }),
  }),
  podCertificate: s.object('PodCertificateProjection', {
    signerName: s.string({ zero: true }),
    keyType: s.string({ zero: true }),
    maxExpirationSeconds: s.int32(),
    credentialBundlePath: s.string(),
    keyPath: s.string(),
    certificateChainPath: s.string(),
    userAnnotations: s.map(s.string()),
  }),
});
export type VolumeProjection = TypeOf<typeof VolumeProjection>;

export const ProjectedVolumeSource = s.object('ProjectedVolumeSource', {
  sources: s.list(VolumeProjection),
  defaultMode: s.int32({ default: readable }),
});
