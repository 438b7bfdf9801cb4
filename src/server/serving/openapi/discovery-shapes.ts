/** The shapes of discovery documents. */
import { s } from '../../../schema/builders.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';

const kind = s.string({ description: 'Kind of the object, in CamelCase, such as APIGroup.' });
const apiVersion = s.string({ description: 'API group and version the object is written in, usually v1.' });

const ServerAddress = s.object(
  'ServerAddressByClientCIDR',
  {
    clientCIDR: s.string({
      zero: true,
      description: 'Range of client IP addresses, in CIDR notation, that should use the address.',
    }),
    serverAddress: s.string({
      zero: true,
      description: 'Address of the server: a host name or IP address, with or without a port.',
    }),
  },
  { description: 'Address of the server for clients in a range of IP addresses.' },
);

const addresses = {
  description: 'Addresses of the server by client IP range. A client uses the most specific range it is in.',
};

const GroupVersion = s.object(
  'GroupVersionForDiscovery',
  {
    groupVersion: s.string({ zero: true, description: 'API group and version, such as apps/v1.' }),
    version: s.string({ zero: true, description: 'The version alone, such as v1.' }),
  },
  { description: 'A version of an API group.' },
);

export const APIGroup = s.object(
  'APIGroup',
  {
    apiVersion,
    kind,
    name: s.string({ zero: true, description: 'Name of the API group.' }),
    preferredVersion: s.use(GroupVersion, {
      description: 'Version that clients should use unless they need another one.',
    }),
    serverAddressByClientCIDRs: s.list(ServerAddress, addresses),
    versions: s.list(GroupVersion, { zero: true, description: 'Versions of the group that the server serves.' }),
  },
  { description: 'An API group and its versions.' },
);

export const APIGroupList = s.object(
  'APIGroupList',
  { apiVersion, groups: s.list(APIGroup, { zero: true, description: 'API groups that the server serves.' }), kind },
  { description: 'All API groups except the core group, as served at /apis.' },
);

export const APIVersions = s.object(
  'APIVersions',
  {
    apiVersion,
    kind,
    serverAddressByClientCIDRs: s.list(ServerAddress, { zero: true, ...addresses }),
    versions: s.list(s.string(), { zero: true, description: 'Versions of the core group that the server serves.' }),
  },
  { description: 'Versions of the core group, as served at /api.' },
);

const APIResource = s.object(
  'APIResource',
  {
    categories: s.list(s.string(), {
      description:
        'Categories the resource belongs to, such as all. A client can request all resources of a category at once.',
    }),
    group: s.string({
      description:
        "API group of the resource's kind, if it differs from the group of the list. A subresource such as scale can have a kind of another group.",
    }),
    kind: s.string({ zero: true, description: "Kind of the resource's objects, such as Deployment." }),
    name: s.string({
      zero: true,
      description:
        'Plural name of the resource in URL paths, such as deployments; for a subresource deployments/scale.',
    }),
    namespaced: s.boolean({
      zero: true,
      description: 'Whether the objects live in namespaces, as opposed to being cluster-scoped.',
    }),
    shortNames: s.list(s.string(), { description: 'Abbreviations that clients accept for the name, such as deploy.' }),
    singularName: s.string({
      zero: true,
      description: 'Singular name, which clients show and accept, such as deployment.',
    }),
    storageVersionHash: s.string({
      description:
        'Hash of the version in which objects are stored. It changes when they are stored in another version.',
    }),
    verbs: s.list(s.string(), {
      zero: true,
      description: 'Verbs the resource supports, such as get, list, watch, create, update, patch and delete.',
    }),
    version: s.string({
      description: "API version of the resource's kind, if it differs from the version of the list.",
    }),
  },
  { description: 'A resource of the API: a collection of objects of one kind.' },
);

export const APIResourceList = s.object(
  'APIResourceList',
  {
    apiVersion,
    groupVersion: s.string({ zero: true, description: 'API group and version the resources belong to.' }),
    kind,
    resources: s.list(APIResource, { zero: true, description: 'The resources and their subresources.' }),
  },
  { description: 'The resources of one API group and version.' },
);

export const discoveryShapes: readonly ObjectSchema[] = [APIGroup, APIGroupList, APIVersions, APIResourceList];
