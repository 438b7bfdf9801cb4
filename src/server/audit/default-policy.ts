import type { Policy } from './policy.ts';

/** What renews and reports all the time, and would fill the log with nothing. */
const RESTLESS = [
  { group: 'coordination.k8s.io', resources: ['leases'] },
  { group: '', resources: ['events'] },
  { group: 'events.k8s.io', resources: ['events'] },
];

const RIGHTS = [
  { group: 'rbac.authorization.k8s.io' },
  { group: 'authorization.k8s.io' },
  { group: 'authentication.k8s.io' },
  { group: 'certificates.k8s.io' },
];

/** The ways into a container, past everything that is noted of objects. Some are opened with a get. */
const DOORS = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'services/proxy', 'nodes/proxy'];

/** The cluster's own parts: how much they write depends on the cluster's size and not on what people do. */
const PARTS = {
  users: ['system:kube-scheduler', 'system:kube-controller-manager', 'system:kube-proxy', 'system:apiserver'],
  userGroups: ['system:nodes', 'system:serviceaccounts:kube-system'],
};

/** A rule for users and one for groups: within one rule, both would have to hold. */
const ofParts = (rule: object) => [
  { level: 'None' as const, users: PARTS.users, ...rule },
  { level: 'None' as const, userGroups: PARTS.userGroups, ...rule },
];

/**
 * What is noted where no policy is given: who wrote what, and who touched secrets, tokens and rights, reading included;
 * never what was in it. Other reads are not noted.
 */
export const defaultPolicy: Policy = {
  omitStages: ['RequestReceived'],
  rules: [
    ...ofParts({ verbs: ['watch'] }),
    ...ofParts({ resources: RESTLESS }),
    ...ofParts({ verbs: ['update', 'patch'], resources: [{ group: '', resources: ['nodes/status', 'pods/status'] }] }),
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets', 'serviceaccounts/token', ...DOORS] }] },
    { level: 'Metadata', resources: RIGHTS },
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'None' },
  ],
};
