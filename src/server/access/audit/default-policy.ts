import type { Policy } from './policy.ts';

/** Resources that are written constantly and would fill the log. */
const FREQUENT_RESOURCES = [
  { group: 'coordination.k8s.io', resources: ['leases'] },
  { group: '', resources: ['events'] },
  { group: 'events.k8s.io', resources: ['events'] },
];

const ACCESS_RESOURCES = [
  { group: 'rbac.authorization.k8s.io' },
  { group: 'authorization.k8s.io' },
  { group: 'authentication.k8s.io' },
  { group: 'certificates.k8s.io' },
];

/** Subresources that lead into containers or past the API. Some are opened with a get. */
const CONNECT_SUBRESOURCES = [
  'pods/exec',
  'pods/attach',
  'pods/portforward',
  'pods/proxy',
  'services/proxy',
  'nodes/proxy',
];

/** The cluster's own components, whose requests depend on the size of the cluster instead of user activity. */
const COMPONENTS = {
  users: ['system:kube-scheduler', 'system:kube-controller-manager', 'system:kube-proxy', 'system:apiserver'],
  userGroups: ['system:nodes', 'system:serviceaccounts:kube-system'],
};

/** Splits a rule into one for users and one for groups: within a single rule, both would have to match. */
const ofComponents = (rule: object) => [
  { level: 'None' as const, users: COMPONENTS.users, ...rule },
  { level: 'None' as const, userGroups: COMPONENTS.userGroups, ...rule },
];

/**
 * The default policy: records who wrote what, and who read or wrote secrets, tokens and access rules, but never their
 * content. Other reads are not recorded.
 */
export const defaultPolicy: Policy = {
  omitStages: ['RequestReceived'],
  rules: [
    ...ofComponents({ verbs: ['watch'] }),
    ...ofComponents({ resources: FREQUENT_RESOURCES }),
    ...ofComponents({
      verbs: ['update', 'patch'],
      resources: [{ group: '', resources: ['nodes/status', 'pods/status'] }],
    }),
    {
      level: 'Metadata',
      resources: [{ group: '', resources: ['secrets', 'serviceaccounts/token', ...CONNECT_SUBRESOURCES] }],
    },
    { level: 'Metadata', resources: ACCESS_RESOURCES },
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'None' },
  ],
};
