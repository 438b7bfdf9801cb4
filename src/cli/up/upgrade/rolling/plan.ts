/** Plans the steps of a rolling upgrade, and their order, from what is known about the machines. */
import { areCompatible, compareReleases, type Release } from '../../../../api/release.ts';

export interface FoundMachine {
  readonly kind: 'server' | 'agent';
  readonly name: string;
  /** That of the machine of a server, which may be shared. */
  readonly hostname?: string | undefined;
  /** The release that runs; undefined when the machine does not say. */
  readonly version: string | undefined;
  /** Why it cannot be upgraded from here; undefined: it can. */
  readonly obstacle?: string | undefined;
}

export interface Plan<M extends FoundMachine> {
  /** To be upgraded, in this order: all of one step, then those of the next. */
  readonly steps: readonly (readonly M[])[];
  /** Machines that run the release already. */
  readonly done: readonly M[];
  /** Agents that cannot be upgraded now. */
  readonly leftOut: readonly M[];
  /** Why nothing is done at all. */
  readonly problems: readonly string[];
}

interface PlanOptions {
  readonly release: Release;
  /** The machine of the server that leads. */
  readonly leader: string | undefined;
  /** How many agents are upgraded at the same time. */
  readonly parallel: number;
}

/**
 * Servers go one by one, the one that leads last: leadership stays with the oldest release as long as there is one, and moves
 * once. A node must not be newer than its servers, so that agents follow servers, and precede them on the way back.
 */
export function planRoll<M extends FoundMachine>(machines: readonly M[], options: PlanOptions): Plan<M> {
  const { release, leader, parallel } = options;
  const isDone = ({ version }: M) => version === release.version;
  const open = machines.filter((each) => !isDone(each));
  const servers = open.filter(({ kind }) => kind === 'server');
  const agents = open.filter(({ kind }) => kind === 'agent');
  const leadsOf = ({ hostname }: M) => Number(hostname !== undefined && hostname === leader);
  const inOrder = [...servers].sort((a, b) => leadsOf(a) - leadsOf(b)).map((each) => [each]);
  const able = agents.filter(({ obstacle }) => obstacle === undefined);
  const groups = groupsOf(able, parallel);
  return {
    steps: isWayBack(servers, release) ? [...groups, ...inOrder] : [...inOrder, ...groups],
    done: machines.filter(isDone),
    leftOut: agents.filter(({ obstacle }) => obstacle !== undefined),
    problems: [...servers, ...able].flatMap((each) => problemOf(each, release)),
  };
}

function problemOf({ kind, name, version, obstacle }: FoundMachine, release: Release): readonly string[] {
  if (obstacle !== undefined) return [`${kind} ${name}: ${obstacle}`];
  if (version === undefined || areCompatible(version, release.version)) return [];
  return [`${kind} ${name} runs ${version}, and the package is ${release.version}: go one minor version at a time`];
}

/** Levels are left out: a machine does not say its own. */
const isWayBack = (servers: readonly FoundMachine[], { version }: Release) =>
  servers.some((each) => each.version && compareReleases(sameLevel(version), sameLevel(each.version)) < 0);

const sameLevel = (version: string): Release => ({ version, level: 0 });

function groupsOf<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size));
}
