/** Warnings about the containers of a pod. */
import { addAll } from '../../base/collections/add-all.ts';
import { deepEqual } from '../../base/json/tree.ts';
import type { Container } from '../shapes/container/container.ts';
import type { PodSpec } from '../shapes/pod/pod-spec.ts';
import { warnOfFraction } from './fractions.ts';

const SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/';

interface Around {
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** The path of the pod: empty, or ending with a dot. */
  readonly head: string;
}

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export function containerWarnings(found: string[], spec: PodSpec, around: Around): void {
  const ports: Port[] = [];
  for (const list of LISTS) {
    const containers = spec[list];
    if (!containers) continue;
    for (let index = 0; index < containers.length; index++) {
      const container = containers[index]!;
      const at = { head: around.head, list, index };
      if (around.annotations) addProfiles(found, container, spec, around);
      addFractions(found, container.resources, at);
      if (container.env && mayHaveDuplicates(container.env, sameVariable)) addHidden(found, container.env, at);
      if (!container.ports) continue;
      addLostAddress(found, container.ports, at);
      for (const port of container.ports) ports.push(port);
    }
  }
  if (mayHaveDuplicates(ports, similarPort)) addPorts(found, spec, around.head);
}

/** Length above which lists are assumed to have duplicates and are checked with maps. */
const MAX_COMPARED_PAIRWISE = 16;

/** Reports whether items may be duplicates. Most lists are short and have none, for which this allocates nothing. */
function mayHaveDuplicates<T>(list: readonly T[], alike: (one: T, other: T) => boolean): boolean {
  if (list.length > MAX_COMPARED_PAIRWISE) return true;
  for (let i = 1; i < list.length; i++) {
    for (let j = 0; j < i; j++) if (alike(list[i]!, list[j]!)) return true;
  }
  return false;
}

const sameVariable = (one: { name: string }, other: { name: string }) => one.name === other.name;

const similarPort = (one: Port, other: Port) =>
  one.containerPort === other.containerPort || (one.name !== undefined && one.name === other.name);

/** The position of a container; its path is built only for a warning. */
interface ContainerPosition {
  readonly head: string;
  readonly list: string;
  readonly index: number;
}

const pathOf = ({ head, list, index }: ContainerPosition) => `${head}spec.${list}[${index}]`;

function addProfiles(found: string[], container: Container, spec: PodSpec, { annotations = {}, head }: Around): void {
  const { name, securityContext } = container;
  const seccomp = SECCOMP + name;
  if (annotations[seccomp] !== undefined && !securityContext?.seccompProfile) {
    const words = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    found.push(`${head}metadata.annotations[${seccomp}]: ${words}`);
  }
  const key = APPARMOR + name;
  const profile = annotations[key];
  if (profile === undefined || securityContext?.appArmorProfile || spec.os?.name === 'windows') return;
  const ofPod = spec.securityContext?.appArmorProfile;
  if (ofPod && deepEqual(ofPod, appArmorProfile(profile))) return;
  found.push(`${head}metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
}

/** The value of an annotation in the form of the field. */
function appArmorProfile(annotation: string): object | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const local = 'localhost/';
  if (!annotation.startsWith(local)) return undefined;
  return { type: 'Localhost', localhostProfile: annotation.slice(local.length) };
}

const BYTES = ['memory', 'ephemeral-storage'];

function addFractions(found: string[], resources: Container['resources'] | undefined, at: ContainerPosition): void {
  if (!resources?.limits && !resources?.requests) return;
  const before = found.length;
  for (const name of BYTES) {
    warnOfFraction(found, 'limits', resources.limits, name);
    warnOfFraction(found, 'requests', resources.requests, name);
  }
  for (let index = before; index < found.length; index++) found[index] = `${pathOf(at)}.resources.${found[index]}`;
}

/** A variable may be repeated to extend its own value; any other duplicate hides the first one. */
function addHidden(found: string[], env: NonNullable<Container['env']>, at: ContainerPosition): void {
  const seen = new Set<string>();
  env.forEach(({ name, value = '', valueFrom }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return;
    }
    const itself = `$(${name})`;
    if (!valueFrom && value !== itself && value.includes(itself)) return;
    const words = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    found.push(`${pathOf(at)}.env[${index}]: ${words}`);
  });
}

type Port = NonNullable<Container['ports']>[number];

function addLostAddress(found: string[], ports: readonly Port[], at: ContainerPosition): void {
  for (let index = 0; index < ports.length; index++) {
    const port = ports[index]!;
    if (!port.hostIP || port.hostPort) continue;
    const { name = '', hostPort = 0, containerPort, protocol, hostIP } = port;
    const shown = `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
    found.push(`${pathOf(at)}.ports[${index}]: hostIP set without hostPort: ${shown}`);
  }
}

/** Limits both the equal ports that are compared with each other and the warnings about them. */
const MAX_PORT_WARNINGS = 100;

interface PortPosition {
  readonly port: Port;
  readonly at: ContainerPosition;
  readonly position: number;
}

const portPath = ({ at, position }: PortPosition) => `${pathOf(at)}.ports[${position}]`;

/** Adds warnings for ports that are listed twice, in the same container or in different ones. */
function addPorts(found: string[], spec: PodSpec, head: string): void {
  const alike = new Map<string | number, PortPosition[]>();
  const named = new Map<string, PortPosition>();
  const conflicts: string[] = [];
  const sameNames: string[] = [];
  for (const list of LISTS) {
    spec[list]?.forEach(({ ports }, index) => {
      ports?.forEach((port, position) => {
        const here = { port, at: { head, list, index }, position };
        const key = port.protocol === 'TCP' ? port.containerPort : `${port.containerPort}/${port.protocol}`;
        const others = alike.get(key);
        if (!others) alike.set(key, [here]);
        else if (others.length < MAX_PORT_WARNINGS && conflicts.length < MAX_PORT_WARNINGS) {
          for (const other of others) addConflict(conflicts, here, other);
          others.push(here);
        }
        if (!port.name) return;
        const first = named.get(port.name);
        if (!first) named.set(port.name, here);
        else if (sameNames.length < MAX_PORT_WARNINGS) sameNames.push(sameName(here, first));
      });
    });
  }
  addAll(found, [...conflicts, ...sameNames]);
}

function addConflict(found: string[], here: PortPosition, other: PortPosition): void {
  const [port, before] = [here.port, other.port];
  const [hostPort, otherPort] = [port.hostPort ?? 0, before.hostPort ?? 0];
  const [hostIP, otherIP] = [port.hostIP ?? '', before.hostIP ?? ''];
  if (hostPort === otherPort && hostIP === otherIP) {
    found.push(`${portPath(here)}: duplicate port definition with ${portPath(other)}`);
  } else if (!hostPort || !otherPort) {
    found.push(`${portPath(here)}: overlapping port definition with ${portPath(other)}`);
  } else if (hostPort === otherPort && !hostIP !== !otherIP) {
    found.push(`${portPath(here)}: dangerously ambiguous port definition with ${portPath(other)}`);
  }
}

function sameName(here: PortPosition, first: PortPosition): string {
  const [path, other] = [portPath(here), portPath(first)];
  const name = JSON.stringify(here.port.name);
  const words = `services and probes that select ports by name will use ${other}`;
  return `${path}: duplicate port name ${name} with ${other}, ${words}`;
}
