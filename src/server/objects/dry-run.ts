import { notSupported } from '../../schema/field-error.ts';
import type { Call } from '../api.ts';
import { invalidObject } from './check.ts';

/** Whether the call wants to see what would happen, and nothing stored. */
export function isDryRun(call: Call): boolean {
  return (call.options?.dryRun?.length ?? 0) > 0;
}

/** `All` is the only stage there is. */
export function checkDryRun(call: Call, optionsKind: string): void {
  const stages = call.options?.dryRun ?? [];
  const unknown = stages.filter((stage) => stage !== 'All');
  if (unknown.length === 0) return;
  throw invalidObject({ group: 'meta.k8s.io', kind: optionsKind }, '', [notSupported('dryRun', stages, ['All'])]);
}
