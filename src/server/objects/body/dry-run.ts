import type { Call } from '../../../api/call.ts';

/** Reports whether the call is a dry run, which skips only the commit. */
export function isDryRun(call: Call): boolean {
  return (call.options?.dryRun?.length ?? 0) > 0;
}
