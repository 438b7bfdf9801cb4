/** Types of the data about a request that expressions can use. */
import {
  BOOL,
  DYN,
  type Field,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../../../../../cel/types/type.ts';

/** A type with fixed fields. */
function struct(name: string, fields: Readonly<Record<string, Type>>): Type {
  const known = new Map<string, Field>(Object.entries(fields).map(([field, type]) => [field, { type }]));
  return objectType(name, (field) => known.get(field));
}

const STRINGS = listType(STRING);
const LABELS = mapType(STRING, STRING);

const GroupVersionKind = struct('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });

const GroupVersionResource = struct('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});

const UserInfo = struct('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: STRINGS,
  extra: mapType(STRING, STRINGS),
});

export const AdmissionRequestType = struct('kubernetes.AdmissionRequest', {
  kind: GroupVersionKind,
  resource: GroupVersionResource,
  subResource: STRING,
  requestKind: GroupVersionKind,
  requestResource: GroupVersionResource,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: UserInfo,
  dryRun: BOOL,
  options: DYN,
});

const NamespaceCondition = struct('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

const NamespaceMetadata = struct('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: LABELS,
  annotations: LABELS,
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: STRINGS,
});

/** A Namespace without owner references and managed fields. */
export const NamespaceType = struct('kubernetes.Namespace', {
  metadata: NamespaceMetadata,
  spec: struct('kubernetes.NamespaceSpec', { finalizers: STRINGS }),
  status: struct('kubernetes.NamespaceStatus', { conditions: listType(NamespaceCondition), phase: STRING }),
});
