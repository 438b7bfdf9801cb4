/** What simulated nodes use, made up by rule. Nothing is kept: it follows from who runs, what the rules say and the time. */
import { containerOf } from '../../pod/phase.ts';
import { drawAmount, type Measured, unitsOf } from '../rules/amount.ts';
import { DEFAULT_STAGES, type UsageRule } from '../rules/rules.ts';
import type { Life, SimulatedRun } from './life.ts';

/** How much is in use: billionths of a processor, and bytes. */
interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

export interface NodeUsage {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Over how many milliseconds before that. */
  readonly window: number;
  readonly node: Usage;
  readonly pods: readonly PodUsage[];
}

interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly (Usage & { readonly name: string })[];
}

/** As often as agents measure, in milliseconds. */
const WINDOW = 10_000;
const KI = 1024;
/** What the machine itself uses. */
const SYSTEM: Usage = { cpu: 100_000_000, memory: 512 * KI * KI };
/** What a container counts as requesting that requests nothing; the scheduler takes it for the same. */
const UNASKED: Usage = { cpu: 100_000_000, memory: 200 * KI * KI };

export interface Circumstances {
  readonly now: number;
  /** With how many pods, itself included, a pod shares a load. */
  readonly sharers: (life: Life) => number;
}

/** What a node and the pods on it use. */
export function usageOf(lives: Iterable<Life>, circumstances: Circumstances): NodeUsage {
  let { cpu, memory } = SYSTEM;
  const pods: PodUsage[] = [];
  for (const life of lives) {
    const running = life.runs.filter(({ state }) => state.type === 'running');
    if (running.length === 0) continue;
    const containers = running.map((run) => ({ name: run.name, ...containerUsage(life, run, circumstances) }));
    for (const container of containers) {
      cpu += container.cpu;
      memory += container.memory;
    }
    const { namespace = '', name = '' } = life.pod.metadata;
    pods.push({ namespace, name, containers });
  }
  return { time: circumstances.now, window: WINDOW, node: { cpu, memory }, pods };
}

function containerUsage(life: Life, run: SimulatedRun, circumstances: Circumstances): Usage {
  const { usage: said } = life.stages;
  const rule = !said.containers || said.containers.includes(run.name) ? said : DEFAULT_STAGES.usage;
  const parts = rule.shared ? Math.max(1, circumstances.sharers(life)) : 1;
  const use = (resource: Measured) => used(rule, resource, { life, run, now: circumstances.now }) / parts;
  return { cpu: Math.round(use('cpu')), memory: Math.round(use('memory') / KI) * KI };
}

interface Running {
  readonly life: Life;
  readonly run: SimulatedRun;
  readonly now: number;
}

function used(rule: UsageRule, resource: Measured, { life, run, now }: Running): number {
  const amount = rule[resource] ?? DEFAULT_STAGES.usage[resource];
  if (!amount) return 0;
  const { uid } = life.pod.metadata;
  const drawn = drawAmount(amount, `${uid}/${run.name}/${resource}/${Math.floor(now / WINDOW)}`);
  return amount.isShare ? (drawn / 100) * requested(life, run, resource) : drawn;
}

function requested(life: Life, run: SimulatedRun, resource: Measured): number {
  const container = containerOf(life.pod, run);
  const requests = 'resources' in container ? container.resources?.requests : undefined;
  const text = requests?.[resource];
  return (text === undefined ? undefined : unitsOf(text, resource)) ?? UNASKED[resource];
}
