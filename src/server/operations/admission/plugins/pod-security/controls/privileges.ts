/** Privileged containers, privilege escalation and running as root. */
import {
  baseline,
  type Control,
  containers,
  containersWhere,
  distinct,
  type PodLike,
  quoted,
  setters,
  unlessOwnUsers,
  unlessWindows,
} from '../control.ts';

export const privileged = baseline('privileged', 'privileged', (pod) => {
  const names = containersWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  return names.length === 0 ? undefined : `${containers(names)} must not set securityContext.privileged=true`;
});

export const windowsHostProcess = baseline('windowsHostProcess', 'hostProcess', (pod) => {
  const isPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const names = containersWhere(pod, (each) => each.securityContext?.windowsOptions?.hostProcess === true);
  const who = setters(isPod, names);
  return who && `${who} must not set securityContext.windowsOptions.hostProcess=true`;
});

const mayEscalate = (pod: PodLike) => {
  const names = containersWhere(pod, (each) => each.securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containers(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const allowPrivilegeEscalation: Control = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  forms: [
    { since: 8, judge: mayEscalate },
    { since: 25, judge: unlessWindows(mayEscalate) },
  ],
};

const runsAsRoot = (pod: PodLike) => {
  const own = pod.spec.securityContext?.runAsNonRoot;
  const wrong = containersWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  const who = setters(own === false, wrong);
  const reason = 'runAsNonRoot != true';
  if (who) return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const silent = containersWhere(pod, (each) => own !== true && each.securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containers(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsNonRoot: Control = {
  id: 'runAsNonRoot',
  level: 'restricted',
  forms: [
    { since: 0, judge: runsAsRoot },
    { since: 35, judge: unlessOwnUsers(runsAsRoot) },
  ],
};

const isUserZero = (pod: PodLike) => {
  const names = containersWhere(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  const who = setters(pod.spec.securityContext?.runAsUser === 0, names);
  return who ? { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` } : undefined;
};

export const runAsUser: Control = {
  id: 'runAsUser',
  level: 'restricted',
  forms: [
    { since: 23, judge: isUserZero },
    { since: 35, judge: unlessOwnUsers(isUserZero) },
  ],
};

const hasOtherProc = (pod: PodLike) => {
  const found: string[] = [];
  const names = containersWhere(pod, ({ securityContext }) => {
    const mount = securityContext?.procMount;
    if (mount === undefined || mount === 'Default') return false;
    found.push(mount);
    return true;
  });
  if (names.length === 0) return undefined;
  const detail = `${containers(names)} must not set securityContext.procMount to ${quoted(distinct(found))}`;
  return { reason: 'procMount', detail };
};

export const procMount: Control = {
  id: 'procMount',
  level: 'baseline',
  forms: [
    { since: 0, judge: hasOtherProc },
    { since: 35, judge: unlessOwnUsers(hasOtherProc) },
  ],
};

export const procMountRestricted: Control = {
  id: 'procMount_restricted',
  level: 'restricted',
  replaces: 'procMount',
  forms: [{ since: 35, judge: hasOtherProc }],
};
