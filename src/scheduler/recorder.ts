import type { Pod } from './objects.ts';

/** Where the scheduler says what became of pods. It returns at once and never fails. */
export interface Recorder {
  event(object: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void;
}
