/** The conditions of a node that runs out of something. */
import { CONDITION_OF, type PressureType, type Threshold } from './thresholds.ts';

export interface Pressure {
  readonly type: PressureType;
  readonly isPressed: boolean;
  readonly reason: string;
  readonly message: string;
}

/** When each condition was last true, in milliseconds since the epoch. */
export type LastPressed = Readonly<Partial<Record<PressureType, number>>>;

/** A condition stays for so long after its cause is gone, so that it does not flap. */
const TRANSITION_PERIOD_MS = 5 * 60_000;

/** Reason and message: when it is pressed, when it is not. */
const WORDS: Readonly<Record<PressureType, readonly [readonly [string, string], readonly [string, string]]>> = {
  MemoryPressure: [
    ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ],
  DiskPressure: [
    ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ],
  PIDPressure: [
    ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ],
};

/** `crossed` are the thresholds that are crossed now. */
export function notePressure(last: LastPressed, crossed: readonly Threshold[], now: number): LastPressed {
  return { ...last, ...Object.fromEntries(crossed.map(({ signal }) => [CONDITION_OF[signal], now])) };
}

export function pressuresOf(last: LastPressed, now: number): readonly Pressure[] {
  return (Object.keys(WORDS) as PressureType[]).map((type) => {
    const since = last[type];
    const isPressed = since !== undefined && now - since < TRANSITION_PERIOD_MS;
    const [reason, message] = WORDS[type][isPressed ? 0 : 1];
    return { type, isPressed, reason, message };
  });
}
