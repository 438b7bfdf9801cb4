/**
 * Reconciles the default roles and bindings when a server starts: missing ones are created, missing rules and subjects
 * are added, and additions by users stay. An object whose autoupdate annotation is `false` is left alone.
 */
import { createHash } from 'node:crypto';
import { clone, deepEqual } from '../../../base/json/tree.ts';
import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../kinds/groups/access/rbac/policy-rule.ts';
import { Role } from '../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/access/rbac/role-binding.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { uncovered } from '../../access/authz/rbac/covers.ts';
import {
  AUTOUPDATE,
  type DefaultBinding,
  type DefaultRole,
  defaultPolicy,
  type Policy,
} from '../../access/authz/rbac/policy/policy.ts';
import { readMarker } from '../../objects/cache/definitions/markers.ts';
import type { Mutation } from '../../objects/transaction/draft.ts';
import { OWN_DELETE, type OwnWrite, writeOwn } from '../../objects/transaction/own-writes.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import type { Storage } from '../../operations/ports.ts';

type Ports = TransactionPorts & Storage;

type Default = DefaultRole | DefaultBinding;
type Stored = KubeObject & {
  rules?: PolicyRule[];
  aggregationRule?: DefaultRole['aggregationRule'];
  roleRef?: DefaultBinding['roleRef'];
  subjects?: DefaultBinding['subjects'][number][];
};

/** The row with the last reconciled policy; its revision is the time of that. */
const MARKER_KEY = '/quarterdeck/default-roles';

/** Resolves when everything is reconciled and can be read. */
export async function reconcilePolicy(core: Ports): Promise<void> {
  const policy = defaultPolicy();
  const digest = createHash('sha256').update(JSON.stringify(policy)).digest();
  const marker = await readMarker(core.store, MARKER_KEY);
  // Objects that have not been written since then are up to date.
  const since = marker?.value.equals(digest) ? marker.revision : 0;
  await writeOwn(core, {
    withoutAdmission: 'the server keeps its default roles, which no user may grant',
    plan: () => writesOf(core, policy, since),
    marker: { key: MARKER_KEY, value: digest, evenIfDamaged: true },
  });
}

function writesOf({ cache }: Ports, policy: Policy, since: number): OwnWrite[] {
  const of = (kind: Kind, defaults: readonly Default[]) =>
    defaults.flatMap((wanted): OwnWrite[] => {
      const { name, namespace = '' } = wanted.metadata;
      const entry = cache.table(kind).get(namespace, name);
      if (entry && (entry.revision <= since || entry.failure(kind))) return [];
      const mutation = mutationOf(kind, wanted, entry?.hub(kind) as Stored | undefined);
      return mutation ? [{ kind, namespace, name, mutation }] : [];
    });
  return [
    ...of(ClusterRole, policy.clusterRoles),
    ...of(ClusterRoleBinding, policy.clusterRoleBindings),
    ...of(Role, policy.roles),
    ...of(RoleBinding, policy.roleBindings),
  ];
}

/** Returns the mutation that reconciles one object; undefined when none is needed. */
function mutationOf(kind: Kind, wanted: Default, found: Stored | undefined): Mutation | undefined {
  if (!found) return { type: 'create', object: () => objectOf(kind, wanted) };
  if (found.metadata.annotations?.[AUTOUPDATE] === 'false') return undefined;
  // The role of a binding cannot be changed: the binding is deleted, and created by the next plan.
  if ('roleRef' in wanted && !deepEqual(found.roleRef, wanted.roleRef)) return { type: 'delete', plan: OWN_DELETE };
  if (deepEqual(inOrder(found, wanted), found)) return undefined;
  return { type: 'update', part: 'object', next: (current) => inOrder(clone(current.hub(kind)) as Stored, wanted) };
}

function objectOf(kind: Kind, { metadata, ...content }: Default): KubeObject {
  const { name, namespace, labels, annotations } = metadata;
  const object = clone({
    kind: kind.kind,
    apiVersion: kind.hub.apiVersion,
    metadata: { name, ...(namespace ? { namespace } : {}), labels, annotations },
    ...content,
  }) as Stored;
  // A binding without subjects has no `subjects` field at all.
  if (object.subjects?.length === 0) delete object.subjects;
  return object;
}

/** Returns a copy of the object with all parts of the default one, in addition to its own. */
function inOrder(found: Stored, wanted: Default): Stored {
  const { labels, annotations } = wanted.metadata;
  const object = { ...found };
  object.metadata = {
    ...object.metadata,
    labels: { ...labels, ...object.metadata.labels },
    annotations: { ...annotations, ...object.metadata.annotations },
  };
  if ('roleRef' in wanted) {
    const missing = wanted.subjects.filter((subject) => !found.subjects?.some((known) => deepEqual(known, subject)));
    if (missing.length > 0) object.subjects = [...(found.subjects ?? []), ...missing];
    return object;
  }
  if (!wanted.aggregationRule) delete object.aggregationRule;
  else {
    // Its rules are set by the aggregation controller.
    const selectors = found.aggregationRule?.clusterRoleSelectors ?? [];
    const missing = wanted.aggregationRule.clusterRoleSelectors.filter(
      (selector) => !selectors.some((known) => deepEqual(known, selector)),
    );
    if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...selectors, ...missing] };
    return object;
  }
  if (deepEqual(found.rules, wanted.rules)) return object;
  const { rules: missing } = uncovered(found.rules ?? [], wanted.rules);
  if (missing.length > 0) object.rules = [...(found.rules ?? []), ...missing];
  return object;
}
