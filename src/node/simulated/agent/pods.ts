/** The pods of all simulated nodes: each is followed, taken on when something is due, and reported. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Change } from '../../../client/informer/object-cache.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { isOver } from '../../pod/phase.ts';
import { advance, nextDue } from '../lifecycle/advance.ts';
import type { Circumstances, Happening } from '../lifecycle/container-steps.ts';
import { beginLife, type Life } from '../lifecycle/life.ts';
import { chooseStages, saysOtherwise } from '../rules/choose.ts';
import type { PodRule, Stages } from '../rules/rules.ts';
import { draw } from '../rules/span.ts';
import type { Agenda, Sleeper } from './agenda.ts';
import type { SimulatedNode } from './node.ts';
import type { Reporter } from './reporter.ts';

export interface PodsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly agenda: Agenda;
  readonly rules: readonly PodRule[];
  readonly reporter: Reporter;
  readonly nodeOf: (name: string) => SimulatedNode | undefined;
  readonly tell: (life: Life, happening: Happening) => void;
}

/** A pod on its node. */
export interface Resident extends Sleeper {
  readonly life: Life;
  readonly node: SimulatedNode;
}

export class SimulatedPods {
  readonly #options: PodsOptions;
  readonly #residents = new Map<string, Resident>();
  readonly #byNode = new Map<SimulatedNode, Set<Resident>>();

  constructor(options: PodsOptions) {
    this.#options = options;
  }

  /** What the informer of pods tells. */
  onChange(change: Change<Pod>): void {
    const { object: pod } = change;
    const name = pod.spec.nodeName;
    if (!name) return;
    const key = keyOf(pod);
    const known = this.#residents.get(key);
    if (change.type === 'delete') {
      if (known) this.#leave(key, known);
      return;
    }
    if (known) {
      const before = known.life.pod;
      known.life.pod = pod;
      if (saysOtherwise(before, pod)) this.#choose(key, known.life);
      if (matters(before, pod)) this.#look(known);
      else if (known.node.isUp) this.#options.reporter.compare(known);
      return;
    }
    const node = this.#options.nodeOf(name);
    if (node) this.#enter(key, node, pod);
  }

  /** What is known of a pod; undefined when it is on none of our nodes. */
  lifeOf(namespace: string, name: string): Life | undefined {
    return this.#residents.get(`${namespace}/${name}`)?.life;
  }

  /** Of all pods on a node. */
  *livesOn(node: SimulatedNode): Iterable<Life> {
    for (const { life } of this.#byNode.get(node) ?? []) yield life;
  }

  /** A node has come back: what was due meanwhile happens now. */
  resume(node: SimulatedNode): void {
    for (const resident of this.#byNode.get(node) ?? []) {
      this.#look(resident, true);
      this.#options.reporter.compare(resident);
    }
  }

  /** A node is gone, and with it all that it knew. */
  forget(node: SimulatedNode): void {
    for (const resident of [...(this.#byNode.get(node) ?? [])]) this.#leave(keyOf(resident.life.pod), resident);
  }

  #enter(key: string, node: SimulatedNode, pod: SeenPod): void {
    const { clock, random, nodeOf } = this.#options;
    const stages = this.#stagesOf(key, pod);
    const sandboxTakes = draw(stages.sandbox, random);
    const life = beginLife({ pod, stages, now: clock.now(), sandboxTakes });
    const resident: Resident = { life, node, wakesAt: undefined, wake: () => this.#look(resident) };
    if (life.address && !pod.spec.hostNetwork && !isOver(life.phase)) node.pool.keep(life.address, uidOf(pod));
    this.#residents.set(key, resident);
    const others = this.#byNode.get(node) ?? new Set();
    this.#byNode.set(node, others.add(resident));
    if (!nodeOf(node.name)) return;
    this.#look(resident, pod.status.startTime === undefined);
    if (pod.status.startTime !== undefined && node.isUp) this.#options.reporter.compare(resident);
  }

  #stagesOf(key: string, pod: SeenPod): Stages {
    const { rules, log } = this.#options;
    const { stages, faults } = chooseStages(pod, rules);
    for (const fault of faults) log.warn('an annotation of a pod is not understood', { pod: key, fault });
    return stages;
  }

  /** Annotations that came later count from now on. */
  #choose(key: string, life: Life): void {
    life.stages = this.#stagesOf(key, life.pod);
    for (const run of life.runs) {
      run.isForeseen = false;
      run.endsAt = undefined;
    }
  }

  #leave(key: string, resident: Resident): void {
    const { agenda, reporter } = this.#options;
    agenda.set(resident, undefined);
    this.#residents.delete(key);
    this.#byNode.get(resident.node)?.delete(resident);
    this.#giveAddress(resident);
    reporter.drop(resident);
  }

  /** Takes the pod on as far as it is due, and reports it if anything about it is new. */
  #look(resident: Resident, isNew = false): void {
    const { node, life } = resident;
    if (!node.isUp) return;
    const { agenda, reporter } = this.#options;
    const wasOver = isOver(life.phase);
    const changed = advance(life, this.#circumstances(node));
    if (isOver(life.phase) && !wasOver) this.#giveAddress(resident);
    agenda.set(resident, nextDue(life));
    if (changed || isNew || life.pod.spec.readinessGates) reporter.report(resident);
  }

  #circumstances(node: SimulatedNode): Circumstances {
    const { clock, random, tell } = this.#options;
    const takeAddress = (pod: SeenPod) => (pod.spec.hostNetwork ? node.machine.address : node.pool.take(uidOf(pod)));
    return { now: clock.now(), random, tell, takeAddress };
  }

  #giveAddress({ life, node }: Resident): void {
    if (life.address && !life.pod.spec.hostNetwork) node.pool.give(life.address, uidOf(life.pod));
  }
}

const uidOf = ({ metadata }: SeenPod) => metadata.uid ?? '';

const keyOf = ({ metadata }: SeenPod) => `${metadata.namespace}/${metadata.name}`;

/** Whether a change can be somebody's wish, and not only what we reported ourselves. */
function matters(before: SeenPod, now: SeenPod): boolean {
  return (
    before.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
    before.metadata.generation !== now.metadata.generation ||
    now.spec.readinessGates !== undefined ||
    saysOtherwise(before, now)
  );
}
