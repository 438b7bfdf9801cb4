/** The machine that the agent runs on. */
import type { Clock } from '../../base/time/clock.ts';
import { type DescribeSettings, describeMachine, type MachineDescription } from './describe.ts';
import type { Host } from './host.ts';
import {
  type MachineUsage,
  type Observations,
  type ObservedDirectories,
  observationsOf,
  observeMachine,
} from './observe.ts';
import { type LastPressed, notePressure, type Pressure, pressuresOf } from './pressure/conditions.ts';
import { crossed, DEFAULT_THRESHOLDS, type Threshold } from './pressure/thresholds.ts';

export interface LocalMachineOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly describe: DescribeSettings;
  readonly directories: ObservedDirectories;
  readonly thresholds?: readonly Threshold[];
}

export interface MachineObservation {
  readonly usage: MachineUsage;
  readonly left: Observations;
  /** Thresholds that are crossed: pods have to be evicted. */
  readonly crossed: readonly Threshold[];
}

export class LocalMachine {
  #lastPressed: LastPressed = {};

  constructor(private readonly options: LocalMachineOptions) {}

  describe(): Promise<MachineDescription> {
    return describeMachine(this.options.host, this.options.describe);
  }

  /** Looks at what is left; the pressures follow from it. */
  async observe(): Promise<MachineObservation> {
    const { host, clock, directories, thresholds = DEFAULT_THRESHOLDS } = this.options;
    const usage = await observeMachine(host, directories, clock.now());
    const left = observationsOf(usage);
    const found = crossed(thresholds, left);
    this.#lastPressed = notePressure(this.#lastPressed, found, usage.time);
    return { usage, left, crossed: found };
  }

  /** As of the last observation. */
  pressures(): readonly Pressure[] {
    return pressuresOf(this.#lastPressed, this.options.clock.now());
  }
}
