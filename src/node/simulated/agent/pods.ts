/** Follows the pods of all simulated nodes, advances each when its next step is due, and reports the result. */

import type { ClientTools } from '../../../client/client.ts';
import type { Change } from '../../../client/informer/object-cache.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { rejectionMessage } from '../../../kinds/shapes/pod/rejection.ts';
import { admission, PREEMPTED } from '../../admission/admit.ts';
import { fromApi } from '../../admission/critical.ts';
import type { SeenNode } from '../../admission/rejection.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { isTerminalPhase } from '../../pod/phase.ts';
import type { PodFailure } from '../../pod/plan/state.ts';
import { advancePod, nextDue } from '../lifecycle/advance-pod.ts';
import type { LifecycleContext, LifecycleEvent } from '../lifecycle/context.ts';
import { newPodLife, type PodLife } from '../lifecycle/pod-life.ts';
import { chooseStages, haveStagesChanged } from '../rules/choose-stages.ts';
import { sample } from '../rules/duration.ts';
import type { PodRule, Stages } from '../rules/rules.ts';
import type { NodePod, SimulatedNode } from './node.ts';
import type { StatusReporter } from './status-reporter.ts';
import type { TimerQueue } from './timer-queue.ts';

export interface PodsOptions extends Omit<ClientTools, 'client'> {
  readonly timers: TimerQueue;
  readonly rules: readonly PodRule[];
  readonly reporter: StatusReporter;
  readonly nodeOf: (name: string) => SimulatedNode | undefined;
  /** Returns the Node object; undefined when it is not known. */
  readonly objectOf: (node: SimulatedNode) => SeenNode | undefined;
  readonly emit: (life: PodLife, event: LifecycleEvent) => void;
}

export class SimulatedPods {
  readonly #pods = new Map<string, NodePod>();
  readonly #byNode = new Map<SimulatedNode, Set<NodePod>>();

  constructor(private readonly options: PodsOptions) {}

  /** Handles a change from the informer of pods. */
  onChange(change: Change<Pod>): void {
    const { object: pod } = change;
    const name = pod.spec.nodeName;
    if (!name) return;
    const key = keyOf(pod);
    const known = this.#pods.get(key);
    if (change.type === 'delete') {
      if (known) this.#remove(key, known);
      return;
    }
    if (known) {
      const before = known.life.pod;
      known.life.pod = pod;
      if (haveStagesChanged(before, pod)) this.#updateStages(key, known.life);
      if (needsAdvance(before, pod)) this.#advance(known);
      else if (known.node.isUp) this.options.reporter.verify(known);
      return;
    }
    const node = this.options.nodeOf(name);
    if (node) this.#add(key, node, pod);
  }

  /** Returns undefined for a pod that is not on a simulated node. */
  lifeOf(namespace: string, name: string): PodLife | undefined {
    return this.#pods.get(`${namespace}/${name}`)?.life;
  }

  *livesOn(node: SimulatedNode): Iterable<PodLife> {
    for (const { life } of this.#byNode.get(node) ?? []) yield life;
  }

  /** Catches up after the node was down. */
  resume(node: SimulatedNode): void {
    for (const nodePod of this.#byNode.get(node) ?? []) {
      this.#advance(nodePod, true);
      this.options.reporter.verify(nodePod);
    }
  }

  /** Drops all pods of a node that was deleted. */
  forget(node: SimulatedNode): void {
    for (const nodePod of [...(this.#byNode.get(node) ?? [])]) this.#remove(keyOf(nodePod.life.pod), nodePod);
  }

  #add(key: string, node: SimulatedNode, pod: SeenPod): void {
    const { clock, random, nodeOf } = this.options;
    const stages = this.#stagesOf(key, pod);
    const sandboxTakes = sample(stages.sandbox, random);
    const life = newPodLife({ pod, stages, now: clock.now(), sandboxTakes });
    const isAdmitted = pod.status.startTime !== undefined || isTerminalPhase(life.phase);
    const nodePod: NodePod = { life, node, isAdmitted, dueAt: undefined, run: () => this.#advance(nodePod) };
    if (life.address && !pod.spec.hostNetwork && !isTerminalPhase(life.phase)) {
      node.pool.reserve(life.address, uidOf(pod));
    }
    this.#pods.set(key, nodePod);
    const others = this.#byNode.get(node) ?? new Set();
    this.#byNode.set(node, others.add(nodePod));
    if (!nodeOf(node.name)) return;
    this.#advance(nodePod, pod.status.startTime === undefined);
    if (pod.status.startTime !== undefined && node.isUp) this.options.reporter.verify(nodePod);
  }

  #stagesOf(key: string, pod: SeenPod): Stages {
    const { rules, log } = this.options;
    const { stages, errors } = chooseStages(pod, rules);
    for (const error of errors) log.warn('invalid annotation of a pod', { pod: key, error });
    return stages;
  }

  /** Applies changed annotations; they count from now on. */
  #updateStages(key: string, life: PodLife): void {
    life.stages = this.#stagesOf(key, life.pod);
    for (const run of life.runs) {
      run.isPlanned = false;
      run.endsAt = undefined;
    }
  }

  #remove(key: string, nodePod: NodePod): void {
    const { timers, reporter } = this.options;
    timers.set(nodePod, undefined);
    this.#pods.delete(key);
    this.#byNode.get(nodePod.node)?.delete(nodePod);
    this.#releaseAddress(nodePod);
    reporter.drop(nodePod);
  }

  /** Advances the pod as far as is due, and reports it when something changed. */
  #advance(nodePod: NodePod, isNew = false): void {
    const { node, life } = nodePod;
    if (!node.isUp) return;
    const { timers, reporter } = this.options;
    if (!nodePod.isAdmitted) this.#admit(nodePod);
    const wasTerminal = isTerminalPhase(life.phase);
    const changed = advancePod(life, this.#contextOf(node));
    if (isTerminalPhase(life.phase) && !wasTerminal) this.#releaseAddress(nodePod);
    timers.set(nodePod, dueWithOthers(life));
    if (changed || isNew || life.pod.spec.readinessGates) reporter.report(nodePod);
  }

  /** Fails the pod unless the node can run it. For a critical pod, others have to go. */
  #admit(nodePod: NodePod): void {
    const { node, life } = nodePod;
    nodePod.isAdmitted = true;
    const object = this.options.objectOf(node);
    if (!object || life.pod.metadata.deletionTimestamp) return;
    const others: SeenPod[] = [];
    for (const other of this.#byNode.get(node) ?? []) {
      if (other !== nodePod && other.isAdmitted && !other.life.state.failure && !isTerminalPhase(other.life.phase)) {
        others.push(other.life.pod);
      }
    }
    const decision = admission(fromApi(life.pod), object, others);
    if (decision.type === 'rejected') {
      const { reason, message } = decision;
      this.#fail(life, message, { reason, message: rejectionMessage(message), isRejection: true });
    } else if (decision.type === 'preempting') {
      for (const victim of decision.victims) {
        const known = this.#pods.get(keyOf(victim));
        if (!known) continue;
        this.#fail(known.life, PREEMPTED.message, PREEMPTED);
        this.#advance(known);
      }
    }
  }

  #fail(life: PodLife, message: string, failure: PodFailure): void {
    life.state.failure = failure;
    const event = { type: 'Warning', reason: failure.reason, message, container: undefined } as const;
    this.options.emit(life, { type: 'planned', event });
  }

  #contextOf(node: SimulatedNode): LifecycleContext {
    const { clock, random, emit } = this.options;
    const takeAddress = (pod: SeenPod) =>
      pod.spec.hostNetwork ? node.machine.address : node.pool.allocate(uidOf(pod));
    return { now: clock.now(), random, emit, takeAddress };
  }

  #releaseAddress({ life, node }: NodePod): void {
    if (life.address && !life.pod.spec.hostNetwork) node.pool.release(life.address, uidOf(life.pod));
  }
}

/** From this number of containers on, steps that are due at about the same time are done together. */
const MANY_CONTAINERS = 100;
/** How far apart they are then, for each container: every step looks at all containers, and reports them. */
const STEP_SPACING_MS = 2;

function dueWithOthers(life: PodLife): number | undefined {
  const due = nextDue(life);
  if (due === undefined || life.runs.length <= MANY_CONTAINERS) return due;
  const spacing = life.runs.length * STEP_SPACING_MS;
  return Math.ceil(due / spacing) * spacing;
}

const uidOf = ({ metadata }: SeenPod) => metadata.uid ?? '';

const keyOf = ({ metadata }: SeenPod) => `${metadata.namespace}/${metadata.name}`;

/** Reports whether a change may need a reaction, unlike our own status writes. */
function needsAdvance(before: SeenPod, now: SeenPod): boolean {
  return (
    before.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
    before.metadata.generation !== now.metadata.generation ||
    now.spec.readinessGates !== undefined ||
    haveStagesChanged(before, now)
  );
}
