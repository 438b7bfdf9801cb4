/**
 * Property tests: whatever a pod looks like, whatever fails, and whenever the agent restarts, the kubelet's guarantees hold.
 * A model of a runtime performs the actions; it checks at every call that the call is allowed.
 */

import { expect, test } from 'vitest';
import { fc, forAll, propertyRuns } from '../../../../test/support/property-runs.ts';
import { clone, deepEqual } from '../../../base/json/tree.ts';
import type { Condition } from '../conditions.ts';
import { podStatus } from '../pod-status.ts';
import type { Action, ActionOutcome } from './action.ts';
import { adoptPod } from './adopt.ts';
import { planPod } from './plan-pod.ts';
import { begin, finish, observe } from './record.ts';
import { podReport } from './report.ts';
import type { ContainerRecord, PodState, SandboxRecord } from './state.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const MAX_STEPS = 3_000;
/** How long a pod is followed that nobody deletes. */
const MAX_MS = 700_000;
const GRACE_SECONDS = 30;
const RANK = { Pending: 0, Running: 1, Succeeded: 2, Failed: 2 };

interface World {
  readonly seed: number;
  /** Of a hundred actions. */
  readonly failures: number;
  readonly deletedAt: number | undefined;
  /** Steps after which the agent is killed and started again. */
  readonly restarts: readonly number[];
  readonly sandboxDiesAt: number | undefined;
  readonly imageChangesAt: number | undefined;
  readonly evictedAt: number | undefined;
  /** How long a container runs, by attempt; undefined: for good. */
  readonly runs: readonly (number | undefined)[];
  readonly exitCodes: readonly number[];
}

interface Flight {
  readonly action: Action;
  readonly endsAt: number;
  /** Whether a listing shows its effect before it has ended. */
  readonly isEarly: boolean;
  /** The sandbox that was ready when it was begun: a container is started in that one, or not at all. */
  readonly sandboxId: string | undefined;
}

/** As `expect`, which is too slow for what is checked at every step. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`violated: ${what}`);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Runs a pod in a model of a node until it has ended, or for many steps. */
class Model {
  readonly world: World;
  pod: any;
  now = START;
  state: PodState;
  sandboxes: Mutable<SandboxRecord>[] = [];
  containers: (Mutable<ContainerRecord> & { endsAt: number })[] = [];
  flights: Flight[] = [];
  conditions: readonly Condition[] = [];
  isMounted = false;
  isCleanedUp = false;
  isFinished = false;
  stops: { readonly at: number; readonly graceSeconds: number; readonly cause: string }[] = [];
  failedActions = 0;
  #ids = 0;
  #random: number;

  constructor(spec: any, world: World) {
    this.world = world;
    this.#random = world.seed;
    const metadata = { name: 'a', namespace: 'x', uid: 'u', generation: 1 };
    this.pod = {
      metadata,
      spec: { terminationGracePeriodSeconds: GRACE_SECONDS, ...spec },
      status: { phase: 'Pending' },
    };
    this.state = adoptPod(this.pod, { sandboxes: [], containers: [] }, this.now);
  }

  chance(limit: number): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    return (this.#random >> 8) % limit;
  }

  list() {
    return {
      sandboxes: this.sandboxes.map((each) => ({ ...each })),
      containers: this.containers.map(({ endsAt: _, ...each }) => ({ ...each })),
    };
  }

  /** One turn of the agent; returns when the next one is due. */
  turn(): number | undefined {
    observe(this.state, { ...this.list(), revision: this.state.revision }, this.now);
    for (const { records, start } of this.state.containers) {
      must(records[0]?.state !== 'running' || start.type !== 'failed', 'what runs was started');
    }
    const before = clone({ ...this.state });
    const plan = planPod(this.pod, this.state, this.now);
    must(deepEqual(this.state, before), 'a plan changes nothing');
    begin(this.state, plan, this.now);
    for (const action of plan.actions) this.perform(action);
    const again = planPod(this.pod, this.state, this.now);
    // Ending a pod can be followed by further steps, but nothing is planned twice.
    const isPlanned = (action: Action) => plan.actions.some((each) => deepEqual(each, action));
    must(!again.actions.some(isPlanned), 'nothing is planned twice');
    must(plan.decisions.length > 0 || again.events.length === 0, 'an event is emitted once');
    must(plan.nextAt === undefined || plan.nextAt > this.now, 'the next plan is later');
    this.isFinished = plan.isFinished;
    return plan.nextAt;
  }

  perform(action: Action): void {
    this.check(action);
    if (action.type === 'stop-container') {
      this.stops.push({ at: this.now, graceSeconds: action.graceSeconds, cause: action.cause });
    }
    const takes =
      action.type === 'stop-container'
        ? this.chance(action.graceSeconds * 1_000 + 1)
        : this.chance(3) * this.chance(900);
    const isEarly = ['start-container', 'run-sandbox'].includes(action.type) && this.chance(3) === 0;
    const flight = { action, endsAt: this.now + takes, isEarly, sandboxId: this.readySandbox()?.id };
    this.flights.push(flight);
    if (isEarly) this.effect(flight, 'running');
  }

  /** What must be true when an action is begun. */
  check(action: Action): void {
    switch (action.type) {
      case 'run-sandbox':
        expect(this.isMounted).toBe(true);
        expect(this.sandboxes.filter(({ isReady }) => isReady)).toEqual([]);
        expect(this.sandboxes.every(({ attempt }) => attempt < action.attempt)).toBe(true);
        expect(this.live()).toEqual([]);
        break;
      case 'start-container':
        this.checkStart(action.container, action.attempt);
        break;
      case 'release-volumes':
      case 'clean-up':
        expect(this.live()).toEqual([]);
        break;
      case 'remove-sandbox':
        expect(this.live().filter(({ sandboxId }) => sandboxId === action.id)).toEqual([]);
        break;
      default:
    }
  }

  checkStart(name: string, attempt: number): void {
    const sandbox = this.readySandbox();
    expect(sandbox).toBeDefined();
    expect(this.isMounted).toBe(true);
    const { initContainers = [], containers, restartPolicy } = this.pod.spec;
    const own = this.containers.filter((each) => each.name === name);
    // Nothing is started twice.
    expect(own.filter(({ state }) => state !== 'exited')).toEqual([]);
    expect(own.every((each) => each.attempt < attempt)).toBe(true);
    expect(this.pod.metadata.deletionTimestamp).toBeUndefined();
    const here = (each: string) =>
      this.containers.filter((one) => one.name === each && one.sandboxId === sandbox!.id && one.state !== 'created');
    const position = initContainers.findIndex((each: any) => each.name === name);
    const before = position < 0 ? initContainers : initContainers.slice(0, position);
    for (const each of before) {
      // Init containers run in order, and sidecars have been started.
      expect(here(each.name).length).toBeGreaterThan(0);
      if (each.restartPolicy !== 'Always') {
        expect(here(each.name).some(({ exitCode }) => exitCode === 0)).toBe(true);
        expect(here(each.name).some(({ state }) => state === 'running')).toBe(false);
      }
    }
    const last = own.toSorted((a, b) => b.attempt - a.attempt)[0];
    const isMain = containers.some((each: any) => each.name === name);
    if (!last || !isMain || this.world.imageChangesAt !== undefined) return;
    if (restartPolicy === 'Never') expect.fail('a container of a pod with the policy Never was restarted');
    if (restartPolicy === 'OnFailure') expect(last.exitCode).not.toBe(0);
  }

  live() {
    return this.containers.filter(({ state }) => state === 'running');
  }

  readySandbox() {
    return this.sandboxes.find(({ isReady }) => isReady);
  }

  /** Ends the action: it fails, or has its effect. */
  land(flight: Flight): ActionOutcome {
    const { action, isEarly } = flight;
    if (isEarly) return { type: 'done' };
    const isStopping = ['stop-container', 'stop-sandbox', 'remove-sandbox', 'remove-container'].includes(action.type);
    if (this.chance(100) < this.world.failures && !(isStopping && this.chance(2))) {
      this.failedActions++;
      if (action.type === 'start-container' && this.chance(2)) this.effect(flight, 'created');
      const reason = action.type === 'pull-image' ? 'ErrImagePull' : 'CreateContainerError';
      return { type: 'failed', reason, message: 'failed' };
    }
    this.effect(flight, 'running');
    return { type: 'done', imageId: 'sha256:1' };
  }

  effect({ action, sandboxId }: Flight, created: 'created' | 'running'): void {
    switch (action.type) {
      case 'prepare-volumes':
        this.isMounted = true;
        break;
      case 'run-sandbox': {
        const id = `s${this.#ids++}`;
        this.sandboxes.push({
          id,
          attempt: action.attempt,
          isReady: true,
          createdAt: this.now,
          addresses: ['10.0.0.2'],
        });
        break;
      }
      case 'stop-sandbox':
        for (const each of this.sandboxes) if (each.id === action.id) each.isReady = false;
        for (const each of this.live()) if (each.sandboxId === action.id) this.exit(each, 137);
        break;
      case 'remove-sandbox':
        this.sandboxes = this.sandboxes.filter(({ id }) => id !== action.id);
        this.containers = this.containers.filter(({ sandboxId }) => sandboxId !== action.id);
        break;
      case 'start-container': {
        const sandbox = this.sandboxes.find(({ id, isReady }) => id === sandboxId && isReady);
        // The sandbox died meanwhile.
        if (!sandbox) break;
        const { runs, exitCodes } = this.world;
        const takes = runs[(action.attempt + action.container.length) % runs.length];
        const isInit = action.container.startsWith('i');
        const endsAt = isInit ? this.now + 100 : takes === undefined ? Number.POSITIVE_INFINITY : this.now + takes;
        this.containers.push({
          ...{ id: `c${this.#ids}`, statusId: `m://c${this.#ids++}`, sandboxId: sandbox.id, name: action.container },
          ...{ attempt: action.attempt, state: created, startedAt: this.now, finishedAt: undefined },
          exitCode: exitCodes[(action.attempt + this.chance(2)) % exitCodes.length]!,
          ...{ reason: undefined, message: undefined, image: action.image, imageId: action.imageId, endsAt },
        });
        if (created === 'running') expect(this.live().filter(({ name }) => name === action.container).length).toBe(1);
        break;
      }
      case 'stop-container':
        for (const each of this.live()) if (each.id === action.id) this.exit(each, 143);
        break;
      case 'remove-container':
        this.containers = this.containers.filter(({ id }) => id !== action.id);
        break;
      case 'release-volumes':
        this.isMounted = false;
        break;
      case 'clean-up':
        this.isCleanedUp = true;
        break;
      default:
    }
  }

  exit(container: Mutable<ContainerRecord>, exitCode = container.exitCode): void {
    container.state = 'exited';
    container.exitCode = exitCode;
    container.finishedAt = this.now;
  }

  status() {
    const report = podReport(this.pod, this.state, this.now);
    const status = podStatus({ ...report, hostIP: 'h' }, this.conditions);
    this.conditions = status.conditions;
    return status as any;
  }

  /** The agent is killed: what it was doing has its effect, or not, and it starts again. */
  restartAgent(): void {
    for (const flight of this.flights) {
      if (!flight.isEarly && this.chance(2)) this.effect(flight, this.chance(2) ? 'created' : 'running');
    }
    this.flights = [];
    this.pod = { ...this.pod, status: this.status() };
    this.state = adoptPod(this.pod, this.list(), this.now);
  }

  /** Lets time pass until something happens; returns false when nothing will. */
  advance(nextAt: number | undefined): boolean {
    const { deletedAt, sandboxDiesAt, imageChangesAt, evictedAt } = this.world;
    const outer = [deletedAt, sandboxDiesAt, imageChangesAt, evictedAt].filter((at) => at !== undefined);
    const times = [
      ...outer.map((after) => START + after).filter((at) => at > this.now),
      ...this.flights.map(({ endsAt }) => endsAt),
      ...this.live().map(({ endsAt }) => endsAt),
      ...(nextAt === undefined ? [] : [nextAt]),
    ];
    const next = Math.min(...times);
    if (next === Number.POSITIVE_INFINITY) return false;
    const from = this.now;
    this.now = Math.max(this.now, next);
    const passed = (after: number | undefined) =>
      after !== undefined && START + after > from && START + after <= this.now;
    if (passed(sandboxDiesAt)) for (const each of this.sandboxes) each.isReady = false;
    if (passed(imageChangesAt)) this.changeImages();
    if (passed(evictedAt)) this.state.failure ??= { reason: 'Evicted', message: 'no memory', graceSeconds: 1 };
    if (passed(deletedAt)) this.delete();
    for (const each of this.live()) if (each.endsAt <= this.now) this.exit(each);
    const landed = this.flights.filter(({ endsAt }) => endsAt <= this.now);
    this.flights = this.flights.filter(({ endsAt }) => endsAt > this.now);
    for (const flight of landed) finish(this.state, flight.action, this.land(flight), this.now);
    return true;
  }

  changeImages(): void {
    const containers = this.pod.spec.containers.map((each: any) => ({ ...each, image: `${each.image}-new` }));
    this.pod = { ...this.pod, spec: { ...this.pod.spec, containers } };
  }

  delete(): void {
    const deletionTimestamp = `${new Date(this.now + GRACE_SECONDS * 1_000).toISOString().slice(0, 19)}Z`;
    const metadata = { ...this.pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: GRACE_SECONDS };
    this.pod = { ...this.pod, metadata };
  }

  run(look: (status: any) => void = () => {}): void {
    for (let step = 0; step < MAX_STEPS; step++) {
      const nextAt = this.turn();
      look(this.status());
      if (this.isFinished) return;
      if (this.world.restarts.includes(step)) this.restartAgent();
      else if (!this.advance(nextAt)) return;
      if (this.now > START + MAX_MS && !this.pod.metadata.deletionTimestamp) return;
    }
    expect.fail(`still busy after ${MAX_STEPS} steps`);
  }
}

const containers = (prefix: string, min: number, more: object = {}) =>
  fc
    .integer({ min, max: 3 })
    .map((count) =>
      Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, image: `${prefix}:1`, ...more })),
    );
const pods = fc.record({
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  activeDeadlineSeconds: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined, freq: 3 }),
  containers: containers('c', 1),
  initContainers: fc
    .tuple(
      containers('s', 0, { restartPolicy: 'Always' }),
      containers('i', 0),
      containers('t', 0, { restartPolicy: 'Always' }),
    )
    .map((lists) => lists.flat()),
});
const after = fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined });
const worlds: fc.Arbitrary<World> = fc.record({
  seed: fc.nat(1_000_000),
  failures: fc.constantFrom(0, 0, 10, 40),
  deletedAt: after,
  restarts: fc.array(fc.nat(40), { maxLength: 3 }),
  sandboxDiesAt: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined, freq: 2 }),
  imageChangesAt: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined, freq: 2 }),
  evictedAt: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined, freq: 1 }),
  runs: fc.array(fc.option(fc.integer({ min: 1, max: 700_000 }), { nil: undefined }), { minLength: 1, maxLength: 4 }),
  exitCodes: fc.array(fc.constantFrom(0, 0, 1, 137), { minLength: 1, maxLength: 3 }),
});

test('a pod never violates the guarantees of a kubelet', () => {
  forAll({ numRuns: propertyRuns(60) }, pods, worlds, (spec, world) => {
    const model = new Model(spec, world);
    let rank = 0;
    const restarts = new Map<string, number>();
    model.run((status) => {
      const holds = (type: string) => status.conditions.find((each: any) => each.type === type).status === 'True';
      const phase = status.phase as keyof typeof RANK;
      must(RANK[phase] >= rank, 'a phase never goes back');
      rank = RANK[phase];
      must(rank < 2 || model.live().length === 0, 'nothing runs in an ended pod');
      if (holds('Ready')) {
        must(phase === 'Running', 'a ready pod runs');
        must(
          status.containerStatuses.every(({ ready, state }: any) => ready && state.running),
          'all containers of a ready pod run',
        );
      }
      if (status.containerStatuses.some(({ state }: any) => state.running)) {
        must(holds('Initialized'), 'main containers run after init containers');
        must(Boolean(status.podIP), 'a pod that runs has an address');
      }
      for (const each of [...status.containerStatuses, ...(status.initContainerStatuses ?? [])]) {
        must(each.restartCount >= (restarts.get(each.name) ?? 0), 'restart counts never fall');
        must(each.restartCount <= 5, 'restart counts saturate');
        restarts.set(each.name, each.restartCount);
      }
    });
  });
});

test('of a deleted pod nothing is left, in the end', () => {
  forAll({ numRuns: propertyRuns(60) }, pods, worlds, fc.integer({ min: 1, max: 60_000 }), (spec, world, deletedAt) => {
    const model = new Model(spec, { ...world, deletedAt });
    model.run();
    expect(model.isFinished).toBe(true);
    expect([model.sandboxes, model.containers]).toEqual([[], []]);
    expect([model.isMounted, model.isCleanedUp]).toEqual([false, true]);
    expect(RANK[model.status().phase as keyof typeof RANK]).toBe(2);
  });
});

test('the grace period is shared: nothing is given time beyond it', () => {
  forAll({ numRuns: propertyRuns(50) }, pods, worlds, fc.integer({ min: 1, max: 60_000 }), (spec, world, deletedAt) => {
    const model = new Model(spec, {
      ...world,
      failures: 0,
      deletedAt,
      evictedAt: undefined,
      sandboxDiesAt: undefined,
    });
    model.run();
    const latest = START + deletedAt + GRACE_SECONDS * 1_000 + 1_000;
    for (const { at, graceSeconds, cause } of model.stops) {
      if (cause === 'deleted') expect(at + graceSeconds * 1_000).toBeLessThanOrEqual(latest + 1_000);
    }
    // What comes after the containers takes at most a few actions of two seconds each.
    expect(model.now).toBeLessThanOrEqual(latest + 20_000);
    expect(model.state.containers.flatMap(({ records }) => records)).toEqual([]);
  });
});
