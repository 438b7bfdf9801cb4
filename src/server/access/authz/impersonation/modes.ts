/**
 * The modes of impersonation. The legacy mode checks whether the sender may `impersonate` each part of the requested
 * user, and then allows everything that user may do. The constrained modes also check whether the sender may perform
 * the request while impersonating a user of that type, and reject some users altogether.
 */
import type { User } from '../../../../api/user.ts';
import { accountOf, hasOnlyName, nodeOf, type RequestedUser } from './requested-user.ts';

type ModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';

export interface Mode {
  readonly name: ModeName;
  /** The verb that the sender needs for each part of the requested user. */
  readonly verb: string;
  readonly isConstrained: boolean;
  /** Reports whether the mode applies to such users. */
  applies(sender: User, requested: RequestedUser): boolean;
}

const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';

function constrained(name: ModeName, applies: Mode['applies']): Mode {
  return { name, verb: `impersonate:${name}`, isConstrained: true, applies };
}

/** The modes in the order in which they are tried. */
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

/** Reports whether the sender's token was issued for a pod on that node, or for the node itself. */
function runsOn({ extra }: User, node: string): boolean {
  const names = extra?.[NODE_NAME_KEY] ?? [];
  return names.length === 1 && names[0] === node;
}

/**
 * Removes the parts of the sender that identify its node: permissions are granted for the sender's current node,
 * whichever it is. Its other extra values name the node or change with it, so only their keys are kept.
 */
export function onAnyNode(sender: User): User {
  return {
    ...sender,
    extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(sender.extra ?? {}).sort() },
  };
}
