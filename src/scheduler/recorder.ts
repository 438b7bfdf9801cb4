import type { Pod } from './objects.ts';

/** Records events. Returns at once and never fails. */
export interface Recorder {
  event(object: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void;
}
