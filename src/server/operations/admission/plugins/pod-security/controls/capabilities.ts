import { addAll } from '../../../../../../base/collections/add-all.ts';
import {
  baseline,
  type Control,
  containers,
  containersWhere,
  distinct,
  type PodLike,
  quoted,
  unlessWindows,
} from '../control.ts';

/** The default capabilities of containers, without NET_RAW. */
const usual = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD'],
  ...['NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);

function adding(pod: PodLike, isAllowed: (capability: string) => boolean): string | undefined {
  const found: string[] = [];
  const names = containersWhere(pod, ({ securityContext }) => {
    const wrong = (securityContext?.capabilities?.add ?? []).filter((each) => !isAllowed(each));
    addAll(found, wrong);
    return wrong.length > 0;
  });
  if (names.length === 0) return undefined;
  return `${containers(names)} must not include ${quoted(distinct(found))} in securityContext.capabilities.add`;
}

export const capabilitiesBaseline = baseline('capabilities_baseline', 'non-default capabilities', (pod) =>
  adding(pod, (each) => usual.has(each)),
);

const isUnrestricted = (pod: PodLike) => {
  const keeping = containersWhere(pod, (each) => !each.securityContext?.capabilities?.drop?.includes('ALL'));
  const added = adding(pod, (each) => each === 'NET_BIND_SERVICE');
  const details = [
    ...(keeping.length > 0 ? [`${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(added ? [added] : []),
  ];
  return details.length > 0 ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined;
};

export const capabilitiesRestricted: Control = {
  id: 'capabilities_restricted',
  level: 'restricted',
  replaces: capabilitiesBaseline.id,
  forms: [
    { since: 22, judge: isUnrestricted },
    { since: 25, judge: unlessWindows(isUnrestricted) },
  ],
};
