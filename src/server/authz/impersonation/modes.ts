/**
 * The ways of acting as somebody else. The older one asks whether the sender may `impersonate` each part of the other, and
 * then lets him do whatever the other may. The constrained ones ask besides whether the sender may do just this while
 * acting as somebody of that sort, and leave alone what is too much for them.
 */
import type { User } from '../../api.ts';
import { accountOf, hasOnlyName, nodeOf, type Wanted } from './wanted.ts';

type ModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';

export interface Mode {
  readonly name: ModeName;
  /** What the sender needs for each part of the other. */
  readonly verb: string;
  readonly isConstrained: boolean;
  /** Whether this is the way for such a user at all. */
  applies(sender: User, wanted: Wanted): boolean;
}

const NODE_NAME = 'authentication.kubernetes.io/node-name';

function constrained(name: ModeName, applies: Mode['applies']): Mode {
  return { name, verb: `impersonate:${name}`, isConstrained: true, applies };
}

/** In the order in which they are tried. */
export const modes: readonly Mode[] = [
  constrained('associated-node', (sender, wanted) => {
    const node = nodeOf(wanted.name);
    return node !== undefined && hasOnlyName(wanted) && accountOf(sender.name) !== undefined && runsOn(sender, node);
  }),
  constrained('arbitrary-node', (_, wanted) => hasOnlyName(wanted) && nodeOf(wanted.name) !== undefined),
  constrained('serviceaccount', (_, wanted) => hasOnlyName(wanted) && accountOf(wanted.name) !== undefined),
  constrained('user-info', (_, { name }) => nodeOf(name) === undefined && accountOf(name) === undefined),
  { name: 'legacy', verb: 'impersonate', isConstrained: false, applies: () => true },
];

/** Its token was made for a pod of that node, or for the node itself. */
function runsOn({ extra }: User, node: string): boolean {
  const names = extra?.[NODE_NAME] ?? [];
  return names.length === 1 && names[0] === node;
}

/**
 * How a sender looks to authorizers where the node does not matter: rights are given for the node that he is on, whichever
 * that is. What else is known of him names it, or changes with it.
 */
export function onAnyNode(sender: User): User {
  return {
    ...sender,
    extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(sender.extra ?? {}).sort() },
  };
}
