/**
 * Prevents privilege escalation: to write a role, a user must have all of its permissions, or the permission to
 * `escalate` it; likewise to bind a role, or the permission to `bind` it. Members of `system:masters` may do both.
 */
import type { User } from '../../../../../api/user.ts';
import { deepEqual } from '../../../../../base/json/tree.ts';
import { isAggregated } from '../../../../../kinds/groups/access/rbac/aggregation.ts';
import { ClusterRole } from '../../../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';
import { Role } from '../../../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../../../kinds/groups/access/rbac/role-binding.ts';
import type { RoleRef } from '../../../../../kinds/groups/access/rbac/role-ref.ts';
import type { KubeObject } from '../../../../../kinds/kind.ts';
import { describeRules, quoted, uncovered } from '../../../../access/authz/rbac/covers.ts';
import { joinErrors } from '../../../../access/authz/rbac/user-permissions.ts';
import { isMaster } from '../../../../access/authz/union.ts';
import type { Access } from '../../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Access, 'authorizer' | 'rbac'>;

type AnyRole = KubeObject & { readonly rules?: readonly PolicyRule[] };

const ROLES: readonly unknown[] = [Role, ClusterRole];
const BINDINGS: readonly unknown[] = [RoleBinding, ClusterRoleBinding];

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Always enabled: without it, everyone who may write roles could do anything. */
export const escalationCheck: AdmissionPlugin = {
  name: 'RBACEscalation',
  keepsDefaults: true,

  handles(kind, operation) {
    return operation !== 'DELETE' && operation !== 'CONNECT' && (ROLES.includes(kind) || BINDINGS.includes(kind));
  },

  admit(core, request) {
    if (isMaster(request.user) || isGarbageCollection(request)) return undefined;
    return ROLES.includes(request.kind) ? checkRole(core, request) : checkBinding(core, request);
  },
};

/** Reports whether only owners and finalizers change: the garbage collector must not need the role's permissions. */
function isGarbageCollection({ object, old }: AdmissionRequest): boolean {
  if (!object || !old) return false;
  const { ownerReferences, finalizers } = old.metadata;
  const comparable = ({ metadata, ...rest }: KubeObject) => {
    const { resourceVersion: _, selfLink: __, managedFields: ___, ...kept } = metadata;
    return { ...rest, metadata: { ...kept, ownerReferences, finalizers } };
  };
  return deepEqual(comparable(object), comparable(old));
}

async function checkRole(core: Ports, request: AdmissionRequest): Promise<void> {
  const { user, kind, namespace, name } = request;
  const attributes = { user, group: kind.group, version: '*', resource: kind.plural, subresource: '', namespace, name };
  const decision = await core.authorizer.authorize({ ...attributes, verb: 'escalate' });
  if (decision.verdict === 'allow') return;
  const role = request.object as AnyRole;
  const missing = missingPermissions(core, request, role.rules ?? []);
  if (missing) throw rejected(request, missing);
  // An aggregated role can gather any rules, and undoes attempts of others to restrict them.
  if (!isAggregated(role) && !(request.old && isAggregated(request.old))) return;
  if (missingPermissions(core, request, EVERYTHING)) {
    throw rejected(request, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding(core: Ports, request: AdmissionRequest): Promise<void> {
  const { user, namespace } = request;
  const { roleRef } = request.object as KubeObject & { readonly roleRef: RoleRef };
  if (await mayBind(core, user, { roleRef, namespace })) return;
  const rules = core.rbac.rulesOfRole(roleRef, namespace);
  const missing = missingPermissions(core, request, rules);
  if (missing) throw rejected(request, missing);
}

async function mayBind(
  core: Ports,
  user: User,
  { roleRef, namespace }: { roleRef: RoleRef; namespace: string },
): Promise<boolean> {
  const { kind, apiGroup = '', name } = roleRef;
  if (kind !== 'Role' && kind !== 'ClusterRole') return false;
  const resource = kind === 'Role' ? 'roles' : 'clusterroles';
  const attributes = { user, verb: 'bind', group: apiGroup, version: '*', resource, subresource: '', namespace, name };
  return (await core.authorizer.authorize(attributes)).verdict === 'allow';
}

/** Returns an error message with every permission that the user lacks; undefined if there is none. */
function missingPermissions(core: Ports, request: AdmissionRequest, wanted: readonly PolicyRule[]): string | undefined {
  const { user, namespace } = request;
  const { rules, errors } = core.rbac.policyFor(user, namespace);
  const { rules: missing, isExact } = uncovered(rules, wanted);
  if (missing.length === 0) return undefined;
  const who = `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)})`;
  const lines = describeRules(missing).join('\n');
  const problems = errors.length > 0 ? `; resolution errors: [${joinErrors(errors)}]` : '';
  const limit = isExact
    ? ''
    : '\nthe rules are too many to compare; split the role, or ask for the verb "escalate" or "bind"';
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${limit}${problems}`;
}
