import type { Call } from '../../../api/call.ts';

/** Whether the call is a dry run: everything happens but the commit. */
export function isDryRun(call: Call): boolean {
  return (call.options?.dryRun?.length ?? 0) > 0;
}
