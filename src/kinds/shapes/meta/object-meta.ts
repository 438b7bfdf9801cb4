/** Metadata of every stored object. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { Status } from './status.ts';

const OwnerReference = s.object(
  'OwnerReference',
  'Reference to an object that owns this one. When all owners of an object are gone, the garbage collector ' +
    'deletes it.',
  {
    apiVersion: s.string('API group and version of the owner, such as apps/v1.', { zero: true }),
    kind: s.string('Kind of the owner, such as ReplicaSet.', { zero: true }),
    name: s.string('Name of the owner. It must be in the same namespace as the dependent, or cluster-scoped.', {
      zero: true,
    }),
    uid: s.string('UID of the owner. An object of the same name with another UID is not the owner.', { zero: true }),
    controller: s.boolean(
      'Whether the owner is the controller that manages this object. At most one owner may set it.',
    ),
    blockOwnerDeletion: s.boolean(
      'If true, a foreground deletion of the owner waits until this object is gone. Setting it requires ' +
        "permission to update the owner's finalizers. Defaults to false.",
    ),
  },
  { atomic: true },
);

const ManagedFieldsEntry = s.object(
  'ManagedFieldsEntry',
  'Fields that one manager set through one API version, with the time of its last change.',
  {
    manager: s.string('Name of the client that manages the fields, such as kubectl.'),
    operation: s.string('Kind of request that created the entry: Apply or Update.'),
    apiVersion: s.string('API version that the field names refer to, such as apps/v1.'),
    time: s.time('Time of the last change to this entry.'),
    fieldsType: s.string('Format of fieldsV1. The only format is FieldsV1.'),
    fieldsV1: s.any(
      'Set of managed fields, as nested objects: "f:<name>" for a field, "k:<keys>" for a list item found by ' +
        'its keys, "v:<value>" for one found by its value.',
    ),
    subresource: s.string(
      'Subresource that the fields were written through, such as status. Empty for the object itself.',
    ),
  },
);

const Initializers = s.object(
  'Initializers',
  'Initializers that have yet to run on the object. Until the last one has been removed, lists and watches ' +
    'leave the object out.',
  {
    pending: s.list(
      s.object('Initializer', 'An initializer that has not run yet.', {
        name: s.string('Name of the initializer, with a domain, such as podimage.example.com.', { zero: true }),
      }),
      'Initializers still to run, in order. Each one removes itself from the front of the list when it is done.',
    ),
    result: s.use(
      Status,
      'Failure reported by an initializer. The object is then not created, and the client receives this status.',
    ),
  },
);

export const ObjectMeta = s.object(
  'ObjectMeta',
  'Metadata that every stored object has. Clients set the name, labels, annotations, owners and ' +
    'finalizers; the server maintains the rest.',
  {
    name: s.string(
      'Name of the object, unique within its kind and namespace. Required unless generateName is set. Cannot ' +
        'be changed.',
    ),
    generateName: s.string(
      'Prefix from which the server generates a unique name when name is empty, by appending five random ' +
        'characters. Prefixes of more than 58 characters are truncated.',
    ),
    namespace: s.string(
      'Namespace of the object; empty for cluster-scoped kinds. Defaults to the namespace of the request. ' +
        'Cannot be changed.',
    ),
    selfLink: s.string('URL path of the object in the API version of the response. Read-only.'),
    uid: s.string(
      'Identifier that the server assigns on creation. An object that is created again under the same name ' +
        'gets a different UID. Read-only.',
    ),
    resourceVersion: s.string(
      'Opaque version of the object; it changes with every write. When sent with an update, the write fails ' +
        'with a conflict if the object has changed since.',
    ),
    generation: s.int64(
      'Number that increases with every change of the desired state. Controllers report the generation they ' +
        'have processed as status.observedGeneration. Read-only.',
    ),
    creationTimestamp: s.time(
      'CreationTimestamp is a timestamp: the time at which the server created the object. Read-only.',
    ),
    deletionTimestamp: s.time(
      'Set when deletion was requested: the time at which the grace period ends. The object is removed after ' +
        'that time, once it has no finalizers. Read-only.',
    ),
    deletionGracePeriodSeconds: s.int64(
      'Grace period of the deletion in seconds. Set together with deletionTimestamp; it can only be shortened. ' +
        'Read-only.',
    ),
    labels: s.map(s.string(), 'Key-value pairs by which selectors find the object. Values have at most 63 characters.'),
    annotations: s.map(
      s.string(),
      'Key-value pairs for tools and people; selectors do not see them. Keys and values may have 256 KiB in ' +
        'total.',
    ),
    ownerReferences: s.listMap(
      OwnerReference,
      'Objects that own this one. The garbage collector deletes the object once all of them are gone.',
      { keys: ['uid'] },
    ),
    finalizers: s.set(
      s.string(),
      'Names of the components that must clean up before the object is removed. Each removes its entry when ' +
        'done; the object is deleted after the last one. Once deletion was requested, none can be added.',
      { merge: true },
    ),
    initializers: s.use(
      Initializers,
      'Initializers that must run before the object becomes visible. Obsolete; admission webhooks replace it.',
    ),
    clusterName: s.string('Cluster of the object. Obsolete and ignored.'),
    managedFields: s.list(
      ManagedFieldsEntry,
      'For each client, the fields that it manages. Maintained by the server and used by server-side apply to ' +
        'detect conflicts.',
      {
        // An empty list that a client sends removes all managers.
        keepEmpty: true,
      },
    ),
  },
);
export type ObjectMeta = TypeOf<typeof ObjectMeta>;
