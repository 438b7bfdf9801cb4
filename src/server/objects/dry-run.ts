import type { Call } from '../api.ts';

/** Whether the call wants to see what would happen, and nothing stored. */
export function isDryRun(call: Call): boolean {
  return (call.options?.dryRun?.length ?? 0) > 0;
}
