/** The users that control-plane components act as. The default roles grant their rights. */

/** The fields of the server's user that components need. */
interface ComponentUser {
  readonly name: string;
  readonly groups: readonly string[];
}

const AUTHENTICATED = 'system:authenticated';
/** The namespace of the controllers' service accounts. */
const NAMESPACE = 'kube-system';

export const SCHEDULER: ComponentUser = { name: 'system:kube-scheduler', groups: [AUTHENTICATED] };

/** The service proxy for the nodes of this process. Other nodes run it as themselves. */
export const SERVICE_PROXY: ComponentUser = { name: 'system:kube-proxy', groups: [AUTHENTICATED] };

/** The user of the informers that simulated nodes share. */
export const SIMULATED_NODES: ComponentUser = { name: 'system:simulated-nodes', groups: [AUTHENTICATED] };

/** The account of the controller manager itself, for shared informers and leader election. */
export const CONTROLLER_MANAGER = 'kube-controller-manager';

/** The user of a controller, by the name of its service account, whose role is `system:controller:ACCOUNT`. */
export function controllerUser(account: string): ComponentUser {
  if (account === CONTROLLER_MANAGER) return { name: `system:${account}`, groups: [AUTHENTICATED] };
  return {
    name: `system:serviceaccount:${NAMESPACE}:${account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, AUTHENTICATED],
  };
}

export const CLUSTER_DNS: ComponentUser = controllerUser('kube-dns');

export const INGRESS_CONTROLLER: ComponentUser = controllerUser('ingress-controller');

export function nodeUser(node: string): ComponentUser {
  return { name: `system:node:${node}`, groups: ['system:nodes', AUTHENTICATED] };
}
