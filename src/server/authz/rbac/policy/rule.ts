/** How the default roles are written down: a rule a line. */
import type { PolicyRule } from '../../../../kinds/groups/rbac/policy-rule.ts';

export const READ = 'get list watch';
export const WRITE = 'create delete deletecollection patch update';
export const READ_UPDATE = 'get list patch update watch';
export const ALL = 'create delete deletecollection get list patch update watch';

/** Words with spaces between; `core` is the group without a name. */
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

/** Everybody who works in a cluster tells what happened. */
export const EVENTS = on('core events.k8s.io', 'events', 'create patch update');
