/** Why the process runtime cannot run a pod on this machine. */
import type { SeenPod } from '../pod/container-run.ts';
import type { KeeperFacts } from './wire/calls.ts';

/** A sentence for an event; undefined if it can. */
export function refusal(_pod: SeenPod, _facts: KeeperFacts): string | undefined {
  return undefined;
}
