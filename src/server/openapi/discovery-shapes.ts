/** The documents by which clients find out what is served. */
import { s } from '../../schema/builders.ts';
import type { ObjectSchema } from '../../schema/schema.ts';

const kind = s.string({ description: 'What the object is.' });
const apiVersion = s.string({ description: 'The group and version in which it is written.' });

const ServerAddress = s.object(
  'ServerAddressByClientCIDR',
  {
    clientCIDR: s.string({ zero: true, description: 'Which clients should use it.' }),
    serverAddress: s.string({ zero: true, description: 'Host, or host and port.' }),
  },
  { description: 'Where clients reach the server.' },
);

const addresses = { description: 'Where clients reach the server; the narrowest match counts.' };

const GroupVersion = s.object(
  'GroupVersionForDiscovery',
  {
    groupVersion: s.string({ zero: true, description: 'Group and version, such as apps/v1.' }),
    version: s.string({ zero: true, description: 'The version alone.' }),
  },
  { description: 'A version of a group.' },
);

export const APIGroup = s.object(
  'APIGroup',
  {
    apiVersion,
    kind,
    name: s.string({ zero: true, description: 'The name of the group.' }),
    preferredVersion: s.use(GroupVersion, { description: 'The version to use where nobody asks for another.' }),
    serverAddressByClientCIDRs: s.list(ServerAddress, addresses),
    versions: s.list(GroupVersion, { zero: true, description: 'The versions that are served.' }),
  },
  { description: 'A group and its versions.' },
);

export const APIGroupList = s.object(
  'APIGroupList',
  { apiVersion, groups: s.list(APIGroup, { zero: true, description: 'The groups that are served.' }), kind },
  { description: 'All groups but the core one.' },
);

export const APIVersions = s.object(
  'APIVersions',
  {
    apiVersion,
    kind,
    serverAddressByClientCIDRs: s.list(ServerAddress, { zero: true, ...addresses }),
    versions: s.list(s.string(), { zero: true, description: 'The versions that are served.' }),
  },
  { description: 'The versions of the core group.' },
);

const APIResource = s.object(
  'APIResource',
  {
    categories: s.list(s.string(), { description: 'Groups of resources that are asked for together, such as all.' }),
    group: s.string({ description: "The kind's group, where it is not the list's." }),
    kind: s.string({ zero: true, description: 'What its objects are.' }),
    name: s.string({ zero: true, description: 'The name in paths: many, in small letters.' }),
    namespaced: s.boolean({ zero: true, description: 'Whether its objects live in namespaces.' }),
    shortNames: s.list(s.string(), { description: 'Shorter names that people use.' }),
    singularName: s.string({ zero: true, description: 'The name of one.' }),
    storageVersionHash: s.string({ description: 'Changes when objects are stored in another version.' }),
    verbs: s.list(s.string(), { zero: true, description: 'What can be done with it.' }),
    version: s.string({ description: "The kind's version, where it is not the list's." }),
  },
  { description: 'A resource: what a path names.' },
);

export const APIResourceList = s.object(
  'APIResourceList',
  {
    apiVersion,
    groupVersion: s.string({ zero: true, description: 'The group and version.' }),
    kind,
    resources: s.list(APIResource, { zero: true, description: 'What it has.' }),
  },
  { description: 'The resources of one group and version.' },
);

export const discoveryShapes: readonly ObjectSchema[] = [APIGroup, APIGroupList, APIVersions, APIResourceList];
