/**
 * Computes the resource usage of simulated nodes. Nothing is stored: it is derived from running containers, rules and the
 * time.
 */
import type { NodeUsage } from '../../../api/node-usage.ts';
import { containerOf } from '../../pod/phase.ts';
import { type Measured, sampleAmount, unitsOf } from '../rules/amount.ts';
import { DEFAULT_STAGES, isNamed, type UsageRule } from '../rules/rules.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

type Usage = NodeUsage['node'];

/** The interval of a kubelet. */
const WINDOW_MS = 10_000;
const KI = 1024;
/** Used by the machine itself. */
const SYSTEM_USAGE: Usage = { cpu: 100_000_000, memory: 512 * KI * KI };
/** Request that a container without requests counts with, as in the scheduler. */
const DEFAULT_REQUEST: Usage = { cpu: 100_000_000, memory: 200 * KI * KI };

export interface UsageContext {
  readonly now: number;
  /** How many pods, itself included, a pod shares its load with. */
  readonly podsSharing: (life: PodLife) => number;
}

/** Returns the usage of a node and of its pods. */
export function usageOf(lives: Iterable<PodLife>, context: UsageContext): NodeUsage {
  let { cpu, memory } = SYSTEM_USAGE;
  const pods: NodeUsage['pods'][number][] = [];
  for (const life of lives) {
    const running = life.runs.filter(({ state }) => state.type === 'running');
    if (running.length === 0) continue;
    const containers = running.map((run) => ({ name: run.name, ...containerUsage(life, run, context) }));
    for (const container of containers) {
      cpu += container.cpu;
      memory += container.memory;
    }
    const { namespace = '', name = '' } = life.pod.metadata;
    pods.push({ namespace, name, containers });
  }
  return { time: context.now, window: WINDOW_MS, node: { cpu, memory }, pods };
}

function containerUsage(life: PodLife, run: SimulatedRun, context: UsageContext): Usage {
  const { usage: stageUsage } = life.stages;
  const rule = isNamed(stageUsage.containers, run.name) ? stageUsage : DEFAULT_STAGES.usage;
  const parts = rule.shared ? Math.max(1, context.podsSharing(life)) : 1;
  const use = (resource: Measured) => used(rule, resource, { life, run, now: context.now }) / parts;
  return { cpu: Math.round(use('cpu')), memory: Math.round(use('memory') / KI) * KI };
}

interface Running {
  readonly life: PodLife;
  readonly run: SimulatedRun;
  readonly now: number;
}

function used(rule: UsageRule, resource: Measured, { life, run, now }: Running): number {
  const amount = rule[resource] ?? DEFAULT_STAGES.usage[resource];
  if (!amount) return 0;
  const { uid } = life.pod.metadata;
  const drawn = sampleAmount(amount, `${uid}/${run.name}/${resource}/${Math.floor(now / WINDOW_MS)}`);
  return amount.isPercent ? (drawn / 100) * requested(life, run, resource) : drawn;
}

function requested(life: PodLife, run: SimulatedRun, resource: Measured): number {
  const container = containerOf(life.pod, run);
  const requests = 'resources' in container ? container.resources?.requests : undefined;
  const text = requests?.[resource];
  return (text === undefined ? undefined : unitsOf(text, resource)) ?? DEFAULT_REQUEST[resource];
}
