/**
 * Nobody gives rights that he has not got: who writes a role must hold all its rules (or may `escalate` it), and who
 * binds a role must hold them, too (or may `bind` it). Members of `system:masters` may do both.
 */
import { deepEqual } from '../../../base/tree.ts';
import { isAggregated } from '../../../kinds/groups/rbac/aggregation.ts';
import { ClusterRole } from '../../../kinds/groups/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { Role } from '../../../kinds/groups/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/rbac/role-binding.ts';
import type { RoleRef } from '../../../kinds/groups/rbac/role-ref.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission/plugin.ts';
import { refused } from '../../admission/refusal.ts';
import type { User } from '../../api.ts';
import type { Core } from '../../core.ts';
import { isMaster } from '../union.ts';
import { describeRules, quoted, uncovered } from './covers.ts';
import { oneText } from './rights.ts';

type AnyRole = KubeObject & { readonly rules?: readonly PolicyRule[] };

const ROLES: readonly unknown[] = [Role, ClusterRole];
const BINDINGS: readonly unknown[] = [RoleBinding, ClusterRoleBinding];

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Not one of those that can be switched off: without it, who may write roles may do everything. */
export const escalationCheck: AdmissionPlugin = {
  name: 'RBACEscalation',
  keepsDefaults: true,

  handles(kind, operation) {
    return operation !== 'DELETE' && operation !== 'CONNECT' && (ROLES.includes(kind) || BINDINGS.includes(kind));
  },

  admit(core, request) {
    if (isMaster(request.user) || isHousekeeping(request)) return undefined;
    return ROLES.includes(request.kind) ? checkRole(core, request) : checkBinding(core, request);
  },
};

/** Only what a garbage collector changes: it must not need the rights of what it collects. */
function isHousekeeping({ object, old }: AdmissionRequest): boolean {
  if (!object || !old) return false;
  const { ownerReferences, finalizers } = old.metadata;
  const comparable = ({ metadata, ...rest }: KubeObject) => {
    const { resourceVersion: _, selfLink: __, ...kept } = metadata;
    return { ...rest, metadata: { ...kept, ownerReferences, finalizers } };
  };
  return deepEqual(comparable(object), comparable(old));
}

async function checkRole(core: Core, request: AdmissionRequest): Promise<void> {
  const { user, kind, namespace, name } = request;
  const asked = { user, group: kind.group, version: '*', resource: kind.plural, subresource: '', namespace, name };
  const decision = await core.authorizer.authorize({ ...asked, verb: 'escalate' });
  if (decision.verdict === 'allow') return;
  const role = request.object as AnyRole;
  const missing = whatIsMissing(core, request, role.rules ?? []);
  if (missing) throw refused(request, missing);
  // It can gather anything, and keep others from tightening what it gathers.
  if (!isAggregated(role) && !(request.old && isAggregated(request.old))) return;
  if (whatIsMissing(core, request, EVERYTHING)) {
    throw refused(request, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding(core: Core, request: AdmissionRequest): Promise<void> {
  const { user, namespace } = request;
  const { roleRef } = request.object as KubeObject & { readonly roleRef: RoleRef };
  if (await mayBind(core, user, { roleRef, namespace })) return;
  const rules = core.rbac.rulesOfRole(roleRef, namespace);
  const missing = whatIsMissing(core, request, rules);
  if (missing) throw refused(request, missing);
}

async function mayBind(
  core: Core,
  user: User,
  { roleRef, namespace }: { roleRef: RoleRef; namespace: string },
): Promise<boolean> {
  const { kind, apiGroup = '', name } = roleRef;
  if (kind !== 'Role' && kind !== 'ClusterRole') return false;
  const resource = kind === 'Role' ? 'roles' : 'clusterroles';
  const asked = { user, verb: 'bind', group: apiGroup, version: '*', resource, subresource: '', namespace, name };
  return (await core.authorizer.authorize(asked)).verdict === 'allow';
}

/** In words, with every right that the user lacks; undefined when there is none. */
function whatIsMissing(core: Core, request: AdmissionRequest, wanted: readonly PolicyRule[]): string | undefined {
  const { user, namespace } = request;
  const { rules, errors } = core.rbac.policyFor(user, namespace);
  const missing = uncovered(rules, wanted);
  if (missing.length === 0) return undefined;
  const who = `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)})`;
  const lines = describeRules(missing).join('\n');
  const trouble = errors.length > 0 ? `; resolution errors: [${oneText(errors)}]` : '';
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${trouble}`;
}
