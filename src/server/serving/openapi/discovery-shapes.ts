import { s } from '../../../schema/builders.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';

const kind = s.string('Kind of the object, in CamelCase, such as APIGroup.');
const apiVersion = s.string('API group and version the object is written in, usually v1.');

const ServerAddress = s.object(
  'ServerAddressByClientCIDR',
  'Address of the server for clients in a range of IP addresses.',
  {
    clientCIDR: s.string('Range of client IP addresses, in CIDR notation, that should use the address.', {
      zero: true,
    }),
    serverAddress: s.string('Address of the server: a host name or IP address, with or without a port.', {
      zero: true,
    }),
  },
);

const addresses = s.list(
  ServerAddress,
  'Addresses of the server by client IP range. A client uses the most specific range it is in.',
);

const GroupVersion = s.object('GroupVersionForDiscovery', 'A version of an API group.', {
  groupVersion: s.string('API group and version, such as apps/v1.', { zero: true }),
  version: s.string('The version alone, such as v1.', { zero: true }),
});

export const APIGroup = s.object('APIGroup', 'An API group and its versions.', {
  apiVersion,
  kind,
  name: s.string('Name of the API group.', { zero: true }),
  preferredVersion: s.use(GroupVersion, 'Version that clients should use unless they need another one.'),
  serverAddressByClientCIDRs: addresses,
  versions: s.list(GroupVersion, 'Versions of the group that the server serves.', { zero: true }),
});

export const APIGroupList = s.object('APIGroupList', 'All API groups except the core group, as served at /apis.', {
  apiVersion,
  groups: s.list(APIGroup, 'API groups that the server serves.', { zero: true }),
  kind,
});

export const APIVersions = s.object('APIVersions', 'Versions of the core group, as served at /api.', {
  apiVersion,
  kind,
  serverAddressByClientCIDRs: s.use(addresses, { zero: true }),
  versions: s.list(s.string(), 'Versions of the core group that the server serves.', { zero: true }),
});

const APIResource = s.object('APIResource', 'A resource of the API: a collection of objects of one kind.', {
  categories: s.list(
    s.string(),
    'Categories the resource belongs to, such as all. A client can request all resources of a category at once.',
  ),
  group: s.string(
    "API group of the resource's kind, if it differs from the group of the list. A subresource such as scale can have a kind of another group.",
  ),
  kind: s.string("Kind of the resource's objects, such as Deployment.", { zero: true }),
  name: s.string(
    'Plural name of the resource in URL paths, such as deployments; for a subresource deployments/scale.',
    { zero: true },
  ),
  namespaced: s.boolean('Whether the objects live in namespaces, as opposed to being cluster-scoped.', { zero: true }),
  shortNames: s.list(s.string(), 'Abbreviations that clients accept for the name, such as deploy.'),
  singularName: s.string('Singular name, which clients show and accept, such as deployment.', { zero: true }),
  storageVersionHash: s.string(
    'Hash of the version in which objects are stored. It changes when they are stored in another version.',
  ),
  verbs: s.list(
    s.string(),
    'Verbs the resource supports, such as get, list, watch, create, update, patch and delete.',
    { zero: true },
  ),
  version: s.string("API version of the resource's kind, if it differs from the version of the list."),
});

export const APIResourceList = s.object('APIResourceList', 'The resources of one API group and version.', {
  apiVersion,
  groupVersion: s.string('API group and version the resources belong to.', { zero: true }),
  kind,
  resources: s.list(APIResource, 'The resources and their subresources.', { zero: true }),
});

export const discoveryShapes: readonly ObjectSchema[] = [APIGroup, APIGroupList, APIVersions, APIResourceList];
