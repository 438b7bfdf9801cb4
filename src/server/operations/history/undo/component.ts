/** Users that people act as, in spite of their names. */
const PEOPLE: ReadonlySet<string> = new Set(['system:admin', 'system:anonymous', 'system:unsecured']);
const ACCOUNT = 'system:serviceaccount:';

/**
 * Reports whether a user is a component of the cluster, whose changes follow from those of others: a controller, the
 * scheduler, a node, the server. Service accounts outside kube-system are programs of users.
 */
export function isComponent(user: string | undefined): boolean {
  if (!user?.startsWith('system:') || PEOPLE.has(user)) return false;
  return !user.startsWith(ACCOUNT) || user.startsWith(`${ACCOUNT}kube-system:`);
}
