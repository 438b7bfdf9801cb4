/** A compact notation for rules, one per line. */
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';

export const READ = 'get list watch';
export const WRITE = 'create delete deletecollection patch update';
export const READ_UPDATE = 'get list patch update watch';
export const ALL = 'create delete deletecollection get list patch update watch';

/** Creates a rule from lists separated by spaces; `core` is the core group. */
export function on(groups: string, resources: string, verbs: string, names?: string): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: groups.split(' ').map((group) => (group === 'core' ? '' : group)),
    resources: resources.split(' '),
    ...(names ? { resourceNames: names.split(' ') } : {}),
  };
}

export function onPaths(paths: string, verbs: string): PolicyRule {
  return { verbs: verbs.split(' '), nonResourceURLs: paths.split(' ') };
}

/** Permission to record events, which most components need. */
export const EVENTS = on('core events.k8s.io', 'events', 'create patch update');
