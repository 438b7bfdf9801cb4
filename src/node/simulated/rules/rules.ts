/** What is made up about nodes and pods: the form that a rule file has once it is read, and what holds without one. */
import type { LabelSelector } from '../../../schema/selector.ts';
import type { Amount } from './amount.ts';
import type { Span } from './span.ts';

/** How a container ends by itself. */
export interface Ending {
  readonly takes: Span;
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  /** How often it ends like this before it goes on for ever. */
  readonly times?: number;
  /** Which containers; absent: all. */
  readonly containers?: readonly string[];
}

export interface Pull {
  readonly takes: Span;
  /** What the registry says when there is no such image. */
  readonly fails?: string;
}

/** When a container that has a liveness probe fails it. */
export interface Liveness {
  /** From its start. */
  readonly after: Span;
  /** How often it is killed before it passes for ever. */
  readonly times?: number;
  /** Which containers; absent: all. */
  readonly containers?: readonly string[];
}

/** When a container that has a readiness probe fails it. */
export interface Readiness {
  /** From when it was ready. */
  readonly after: Span;
  /** Until it passes again; absent: not before it is started again. */
  readonly for?: Span;
  /** Which containers; absent: all. */
  readonly containers?: readonly string[];
}

export interface Logs {
  /** Milliseconds between two lines. */
  readonly every: number;
  readonly lines: readonly string[];
}

/** What a container uses while it runs; of what is left out, as much as without a rule. */
export interface UsageRule {
  readonly cpu?: Amount;
  readonly memory?: Amount;
  /** Which containers; absent: all. */
  readonly containers?: readonly string[];
  /** Whether it is for all pods of the same owner together: each uses its part. */
  readonly shared?: boolean;
}

/** The stages of a pod's life. A rule says something about some of them. */
export interface Stages {
  /** From the binding until the pod has its address. */
  readonly sandbox: Span;
  /** From then, or from the end of the container before it, until a container's image is there. */
  readonly pull: Pull;
  /** How an init container ends. */
  readonly init: Ending;
  /** From a container's start until it is ready. */
  readonly ready: Span;
  /** How the other containers end; undefined: they run on. */
  readonly run: Ending | undefined;
  /** Undefined: the probe passes. */
  readonly liveness: Liveness | undefined;
  readonly readiness: Readiness | undefined;
  /** From the deletion until the containers have ended; the grace period ends them earlier. */
  readonly stop: Span;
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
  /** Of any of its containers. */
  readonly images?: readonly string[];
  /** The kind of the controlling owner. */
  readonly owner?: string;
  readonly restartPolicy?: readonly string[];
  /** Whether any container has a readiness probe. */
  readonly readinessProbe?: boolean;
}

export interface PodRule {
  readonly match: PodMatch;
  readonly stages: Partial<Stages>;
}

/** When a node says nothing more, counted from the start of the program, and for how long. */
export interface Outage {
  readonly after: Span;
  /** Absent: for good. */
  readonly for?: Span;
}

export interface NodeRule {
  /** Patterns with `*`; absent: all. */
  readonly names?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly capacity?: Readonly<Record<string, string>>;
  readonly down?: Outage;
}

export interface Rules {
  readonly pods: readonly PodRule[];
  readonly nodes: readonly NodeRule[];
}

const span = (least: number, most = least): Span => ({ least, most });

/**
 * Behind all rules of a file. Without a readiness probe a container is ready when it runs, and its image is there when the
 * pod has its address: a pod that becomes ready costs two writes.
 */
export const DEFAULT_RULES: readonly PodRule[] = [
  {
    match: { owner: 'Job', restartPolicy: ['Never', 'OnFailure'] },
    stages: { run: { takes: span(500, 1_500), exitCode: 0 } },
  },
  // They empty volumes that are to be used again.
  {
    match: { names: ['recycler-for-*'], namespaces: ['default'] },
    stages: { run: { takes: span(500, 1_500), exitCode: 0 } },
  },
  { match: { readinessProbe: true }, stages: { ready: span(200, 500) } },
];

export const DEFAULT_STAGES: Stages = {
  sandbox: span(100, 400),
  pull: { takes: span(0) },
  init: { takes: span(100, 300), exitCode: 0 },
  ready: span(0),
  run: undefined,
  liveness: undefined,
  readiness: undefined,
  stop: span(100, 300),
  logs: { every: 10_000, lines: ['{container} of {pod} is well, line {n}'] },
  usage: { cpu: { isShare: true, least: 10, most: 10 }, memory: { isShare: true, least: 50, most: 50 } },
};
