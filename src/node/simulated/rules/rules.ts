/** The rules of a simulation as they are read from a file, and the defaults. */
import { memoized } from '../../../base/collections/memoized.ts';
import type { Taint } from '../../../kinds/placement/tolerations.ts';
import type { LabelSelector } from '../../../schema/selector/selector.ts';
import type { Amount } from './amount.ts';
import type { DurationRange } from './duration.ts';

/** How a container ends by itself. */
export interface Ending {
  readonly takes: DurationRange;
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  /** How often it ends like this before it keeps running. */
  readonly times?: number;
  /** Absent: all containers. */
  readonly containers?: readonly string[];
}

export interface Pull {
  readonly takes: DurationRange;
  /** The registry's error for an image that does not exist. */
  readonly fails?: string;
}

/** When a container with a liveness probe fails it. */
export interface Liveness {
  /** Counted from its start. */
  readonly after: DurationRange;
  /** How often it is killed before the probe passes for good. */
  readonly times?: number;
  /** Absent: all containers. */
  readonly containers?: readonly string[];
}

/** When a container with a readiness probe fails it. */
export interface Readiness {
  /** Counted from when it became ready. */
  readonly after: DurationRange;
  /** How long it fails; absent: until the container restarts. */
  readonly for?: DurationRange;
  /** Absent: all containers. */
  readonly containers?: readonly string[];
}

export interface Logs {
  /** Milliseconds between two lines. */
  readonly every: number;
  readonly lines: readonly string[];
}

/** Usage of a running container. Fields that are left out have their default. */
export interface UsageRule {
  readonly cpu?: Amount;
  readonly memory?: Amount;
  /** Absent: all containers. */
  readonly containers?: readonly string[];
  /** True when the amounts are divided among all pods of the same owner. */
  readonly shared?: boolean;
}

/** The stages of a pod. A rule sets some of them. */
export interface Stages {
  /** From the binding until the pod has its address. */
  readonly sandbox: DurationRange;
  /** From then, or from the end of the previous container, until the image is present. */
  readonly pull: Pull;
  /** How an init container ends. */
  readonly init: Ending;
  /** From a container's start until it is ready. */
  readonly ready: DurationRange;
  /** How other containers end; undefined: they keep running. */
  readonly run: Ending | undefined;
  /** Undefined: the probe passes. */
  readonly liveness: Liveness | undefined;
  readonly readiness: Readiness | undefined;
  /** From the deletion until the containers have stopped, at most the grace period. */
  readonly stop: DurationRange;
  readonly logs: Logs;
  readonly usage: UsageRule;
}

export type StageName = keyof Stages;

export interface PodMatch {
  readonly namespaces?: readonly string[];
  readonly labels?: LabelSelector;
  /** Patterns with `*`. */
  readonly names?: readonly string[];
  readonly nodes?: readonly string[];
  /** Patterns with `*`, one of which must match the image of any container. */
  readonly images?: readonly string[];
  /** The kind of the controlling owner. */
  readonly owner?: string;
  readonly restartPolicy?: readonly string[];
  /** True for pods with a readiness probe in any container, false for those without. */
  readonly readinessProbe?: boolean;
}

export interface PodRule {
  readonly match: PodMatch;
  readonly stages: Partial<Stages>;
}

/** When a node goes down, counted from the start of the program, and for how long. */
export interface Outage {
  readonly after: DurationRange;
  /** Absent: for good. */
  readonly for?: DurationRange;
}

export interface NodeRule {
  /** Patterns with `*`; absent: all. */
  readonly names?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly capacity?: Readonly<Record<string, string>>;
  readonly down?: Outage;
}

export interface Rules {
  readonly pods: readonly PodRule[];
  readonly nodes: readonly NodeRule[];
}

/** Reports whether a stage concerns the container; without a list, it concerns all. */
export function isNamed(containers: readonly string[] | undefined, name: string): boolean {
  return !containers || namesIn(containers).has(name);
}

/** Cached: annotations list as many names as a client likes. */
const namesIn = memoized((containers: readonly string[]): ReadonlySet<string> => new Set(containers));

const duration = (min: number, max = min): DurationRange => ({ min, max });

/**
 * Come after all rules of a file. By default a container without a readiness probe is ready when it runs, and its image is
 * present when the pod has its address: a pod needs two writes to become ready.
 */
export const DEFAULT_RULES: readonly PodRule[] = [
  {
    match: { owner: 'Job', restartPolicy: ['Never', 'OnFailure'] },
    stages: { run: { takes: duration(500, 1_500), exitCode: 0 } },
  },
  // The pods that empty recycled volumes.
  {
    match: { names: ['recycler-for-*'], namespaces: ['default'] },
    stages: { run: { takes: duration(500, 1_500), exitCode: 0 } },
  },
  { match: { readinessProbe: true }, stages: { ready: duration(200, 500) } },
];

export const DEFAULT_STAGES: Stages = {
  sandbox: duration(100, 400),
  pull: { takes: duration(0) },
  init: { takes: duration(100, 300), exitCode: 0 },
  ready: duration(0),
  run: undefined,
  liveness: undefined,
  readiness: undefined,
  stop: duration(100, 300),
  logs: { every: 10_000, lines: ['{container} of {pod} is well, line {n}'] },
  usage: { cpu: { isPercent: true, min: 10, max: 10 }, memory: { isPercent: true, min: 50, max: 50 } },
};
