/**
 * Puts the default roles and bindings in order when a server starts: what is missing is made, missing rules and subjects
 * are added, and what somebody added stays. An object whose autoupdate annotation says `false` is left alone.
 */
import { createHash } from 'node:crypto';
import { timestamp } from '../../../base/timestamp.ts';
import { deepEqual } from '../../../base/tree.ts';
import { ClusterRole } from '../../../kinds/groups/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { Role } from '../../../kinds/groups/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/rbac/role-binding.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { StoreConflict, type Write } from '../../../store/store.ts';
import { encode } from '../../cache/encoding.ts';
import { keyOf } from '../../cache/keys.ts';
import type { Core } from '../../core.ts';
import { uncovered } from './covers.ts';
import { AUTOUPDATE, type DefaultBinding, type DefaultRole, defaultPolicy, type Policy } from './policy/policy.ts';

/** What a store takes in one commit: etcd's limit is 128. */
const TOGETHER = 100;

type Default = DefaultRole | DefaultBinding;
type Stored = KubeObject & {
  rules?: PolicyRule[];
  aggregationRule?: DefaultRole['aggregationRule'];
  roleRef?: DefaultBinding['roleRef'];
  subjects?: DefaultBinding['subjects'][number][];
};

/** Where it stands which policy was put in order last; the row's revision says when. */
const MARK = '/quarterdeck/default-roles';

/** Writes what differs, in as few commits as the store allows. Resolves when it can be read. */
export async function reconcilePolicy(core: Core): Promise<void> {
  const policy = defaultPolicy();
  const digest = createHash('sha256').update(JSON.stringify(policy)).digest();
  for (;;) {
    const mark = await core.store.get(MARK);
    // What has not been written since then needs no second look.
    const since = mark?.value.equals(digest) ? mark.revision : 0;
    const writes = changes(core, policy, since);
    if (writes.length === 0) return;
    try {
      let revision = 0;
      for (const together of batches([...writes, { key: MARK, value: digest }])) {
        revision = await core.store.commit(together);
      }
      await core.cache.reached(revision);
      return;
    } catch (error) {
      // Another server does the same at the same time: what is left to do is seen when its writes are.
      if (!(error instanceof StoreConflict)) throw error;
      await core.cache.fresh();
    }
  }
}

function batches(writes: readonly Write[]): Write[][] {
  const found: Write[][] = [];
  for (let at = 0; at < writes.length; at += TOGETHER) found.push(writes.slice(at, at + TOGETHER));
  return found;
}

function changes(core: Core, policy: Policy, since: number): Write[] {
  const of = (kind: Kind, wanted: readonly Default[]) =>
    wanted.flatMap((each) => {
      const { name, namespace = '' } = each.metadata;
      const entry = core.cache.table(kind).get(namespace, name);
      return entry && entry.revision <= since ? [] : (change(core, kind, each) ?? []);
    });
  return [
    ...of(ClusterRole, policy.clusterRoles),
    ...of(ClusterRoleBinding, policy.clusterRoleBindings),
    ...of(Role, policy.roles),
    ...of(RoleBinding, policy.roleBindings),
  ];
}

/** The write that puts one object in order; undefined where it is. */
function change(core: Core, kind: Kind, wanted: Default): Write | undefined {
  const { name, namespace = '' } = wanted.metadata;
  const key = keyOf(kind, namespace, name);
  const entry = core.cache.entry(key);
  const made = () => encode(created(core, kind, wanted));
  if (!entry) return { key, value: made(), expect: 0 };
  const found = entry.hub(kind) as Stored;
  if (found.metadata.annotations?.[AUTOUPDATE] === 'false') return undefined;
  // A binding keeps its role for good: one with another role is replaced.
  if ('roleRef' in wanted && !deepEqual(found.roleRef, wanted.roleRef)) {
    return { key, value: made(), expect: entry.revision };
  }
  const mended = inOrder(found, wanted);
  return deepEqual(mended, stripped(found)) ? undefined : { key, value: encode(mended), expect: entry.revision };
}

function created(core: Core, kind: Kind, wanted: Default): KubeObject {
  const { name, namespace, labels, annotations } = wanted.metadata;
  const { metadata: _, ...content } = wanted;
  const metadata = {
    name,
    uid: core.random.uuid(),
    creationTimestamp: timestamp(core.clock.now()),
    ...(namespace ? { namespace } : {}),
    labels,
    annotations,
  };
  // A binding for nobody says so by having no subjects.
  const isEmpty = 'subjects' in content && content.subjects.length === 0;
  const { subjects: __, ...bare } = content as DefaultBinding;
  return { kind: kind.kind, apiVersion: kind.hub.apiVersion, metadata, ...(isEmpty ? bare : content) } as KubeObject;
}

/** The object with everything that a default one has; what it has besides, it keeps. */
function inOrder(found: Stored, wanted: Default): Stored {
  const { labels, annotations } = wanted.metadata;
  const object = stripped(found);
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
    // Its rules are the controller's business.
    const selectors = found.aggregationRule?.clusterRoleSelectors ?? [];
    const missing = wanted.aggregationRule.clusterRoleSelectors.filter(
      (selector) => !selectors.some((known) => deepEqual(known, selector)),
    );
    if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...selectors, ...missing] };
    return object;
  }
  if (deepEqual(found.rules, wanted.rules)) return object;
  const missing = uncovered(found.rules ?? [], wanted.rules);
  if (missing.length > 0) object.rules = [...(found.rules ?? []), ...missing];
  return object;
}

/** As it is stored: what the server puts in when it serves the object is left out. */
function stripped(found: Stored): Stored {
  const { resourceVersion: _, selfLink: __, ...metadata } = found.metadata;
  return { ...found, metadata };
}
