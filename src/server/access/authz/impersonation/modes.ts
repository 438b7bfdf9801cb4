/**
 * The modes of impersonation. The legacy mode checks whether the sender may `impersonate` each part of the requested user,
 * and then allows whatever that user may do. The constrained modes also check whether the sender may perform the request
 * while impersonating a user of that sort, and reject some users altogether.
 */
import type { User } from '../../../../api/user.ts';
import { accountOf, hasOnlyName, nodeOf, type RequestedUser } from './requested-user.ts';

type ModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';

export interface Mode {
  readonly name: ModeName;
  /** The permission that the sender needs for each part of the requested user. */
  readonly verb: string;
  readonly isConstrained: boolean;
  /** Whether this mode is for such users. */
  applies(sender: User, requested: RequestedUser): boolean;
}

const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';

function constrained(name: ModeName, applies: Mode['applies']): Mode {
  return { name, verb: `impersonate:${name}`, isConstrained: true, applies };
}

/** In the order in which they are tried. */
export const modes: readonly Mode[] = [
  constrained('associated-node', (sender, requested) => {
    const node = nodeOf(requested.name);
    return node !== undefined && hasOnlyName(requested) && accountOf(sender.name) !== undefined && runsOn(sender, node);
  }),
  constrained('arbitrary-node', (_, requested) => hasOnlyName(requested) && nodeOf(requested.name) !== undefined),
  constrained('serviceaccount', (_, requested) => hasOnlyName(requested) && accountOf(requested.name) !== undefined),
  constrained('user-info', (_, { name }) => nodeOf(name) === undefined && accountOf(name) === undefined),
  { name: 'legacy', verb: 'impersonate', isConstrained: false, applies: () => true },
];

/** Whether the sender's token was issued for a pod on that node, or for the node itself. */
function runsOn({ extra }: User, node: string): boolean {
  const names = extra?.[NODE_NAME_KEY] ?? [];
  return names.length === 1 && names[0] === node;
}

/**
 * The sender without what identifies its node: permissions are granted for the node it is on, whichever that is. Its other
 * extra values name the node or change with it, so only their keys are kept.
 */
export function onAnyNode(sender: User): User {
  return {
    ...sender,
    extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(sender.extra ?? {}).sort() },
  };
}
