import type { Draft } from '../../../api/object-types.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { event, type Plan, updateStatus } from '../../loop/plan.ts';
import type { Volume } from './states.ts';

type Phase = 'Available' | 'Bound' | 'Released' | 'Failed';

/** Sets the phase of the volume, unless it has it. */
export function inPhase(volume: Volume, phase: Phase, message?: string): Plan {
  if (volume.status.phase === phase) return [];
  const { message: _, ...rest } = volume.status;
  const status = { ...rest, phase, ...(message === undefined ? {} : { message }) };
  return [updateStatus(PersistentVolume, { ...volume, status } as Draft<PersistentVolume>)];
}

/** Records the failure, once. */
export function failed(volume: Volume, reason: string, message: string): Plan {
  const written = inPhase(volume, 'Failed', message);
  return written.length === 0 ? [] : [...written, event(volume, 'Warning', reason, message)];
}
