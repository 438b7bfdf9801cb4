/** Rules for updates of container statuses. Paths are relative to the pod's status. */
import { indexBy } from '../../../../../base/collections/index-by.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  under,
} from '../../../../../schema/field-error.ts';
import { inRange } from '../../../../../schema/names.ts';
import type { Container } from '../../../../shapes/container/container.ts';
import type { ContainerStatus } from '../../../../shapes/container/container-status.ts';
import { amountIn } from '../../../../shapes/container/resources.ts';
import { mayRestart, mayRestartAll } from '../../../../shapes/container/restart.ts';
import type { PodSpec } from '../../../../shapes/pod/pod-spec.ts';
import type { PodStatus } from '../../../../shapes/pod/pod-status.ts';
import type { Pod } from '../pod-fields.ts';

/** The list of containers of each list of statuses. */
const lists = {
  containerStatuses: 'containers',
  initContainerStatuses: 'initContainers',
  ephemeralContainerStatuses: 'ephemeralContainers',
} as const;
type List = keyof typeof lists;

export function containerStatusRules(status: PodStatus, old: Pod): FieldError[] {
  const { spec } = old;
  return (Object.keys(lists) as List[]).flatMap((list) => {
    const containers = indexBy<Container, string>(spec[lists[list]], ({ name }) => name);
    return [
      ...stayEnded(list, status, { old, containers }),
      ...(status[list] ?? []).flatMap((each, index) =>
        under(`${list}[${index}]`, [...user(each, spec), ...health(each, list, containers.get(each.name))]),
      ),
    ];
  });
}

/** A container that has terminated and is not restarted cannot run again. */
function stayEnded(
  list: List,
  status: PodStatus,
  { old: { spec, status: old }, containers }: { old: Pod; containers: ReadonlyMap<string, Container> },
): FieldError[] {
  if (!old[list]) return [];
  if (list !== 'ephemeralContainerStatuses' && mayRestartAll(spec)) return [];
  const statuses = indexBy(status[list], ({ name }) => name);
  return (old[list] ?? []).flatMap(({ name, state: { terminated } }, index) => {
    const now = statuses.get(name);
    if (!terminated || !now || now.state.terminated) return [];
    const container = list === 'ephemeralContainerStatuses' ? undefined : containers.get(name);
    if (container && mayRestart(container, spec, terminated.exitCode)) return [];
    return [forbidden(`${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

const MAX_ID = 2 ** 31 - 1;

function user({ user: who }: ContainerStatus, { os }: PodSpec): FieldError[] {
  if (!who?.linux) return [];
  if (os?.name === 'windows') return [forbidden('user.linux', 'cannot be set for a windows pod')];
  const { uid, gid, supplementalGroups = [] } = who.linux;
  const id = (field: string, value: number) =>
    inRange(value, 0, MAX_ID).map((complaint) => invalid(`user.linux.${field}`, value, complaint));
  return [
    ...id('uid', uid),
    ...id('gid', gid),
    ...supplementalGroups.flatMap((group, index) => id(`supplementalGroups[${index}]`, group)),
  ];
}

const healths = ['Healthy', 'Unhealthy', 'Unknown'];
const MAX_MESSAGE = 1024;

function health(
  { allocatedResourcesStatus }: ContainerStatus,
  list: List,
  container: Container | undefined,
): FieldError[] {
  if (!allocatedResourcesStatus) return [];
  if (list === 'ephemeralContainerStatuses') {
    return [forbidden('allocatedResourcesStatus', 'must not be specified in container status')];
  }
  const claims = new Set(container?.resources.claims?.map(claimName));
  return allocatedResourcesStatus.flatMap(({ name, resources = [] }, index) => {
    const seen = new Set<string>();
    const isAskedFor = name.startsWith('claim:')
      ? claims.has(name)
      : amountIn(container?.resources.requests, name) !== undefined;
    const found = container && !isAskedFor ? [invalid('name', name, whatIsAskedFor(name))] : [];
    resources.forEach(({ resourceID, health: word = '', message }, place) => {
      const at = `resources[${place}]`;
      if (!healths.includes(word)) found.push(notSupported(`${at}.health`, word, healths));
      if (message === '') found.push(required(`${at}.message`, 'must be non-empty if specified'));
      else if (message && Buffer.byteLength(message) > MAX_MESSAGE) found.push(tooLong(`${at}.message`, MAX_MESSAGE));
      if (seen.has(resourceID)) found.push(duplicate(`${at}.resourceID`, resourceID));
      seen.add(resourceID);
    });
    return under(`allocatedResourcesStatus[${index}]`, found);
  });
}

const claimName = ({ name, request }: { name: string; request?: string }) =>
  request ? `claim:${name}/${request}` : `claim:${name}`;

function whatIsAskedFor(name: string): string {
  return name.startsWith('claim:')
    ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    : "must match one of the container's resource requests";
}
