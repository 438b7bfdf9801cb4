import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Call } from '../api.ts';

/** Notes what a kind has to say about an object that is about to be stored. */
export function noteWarnings(kind: Kind, object: KubeObject, { call, old, status = false }: Writing): void {
  const found = status ? kind.statusWarnings?.(object) : kind.warnings?.(object, old);
  if (!found || found.length === 0) return;
  call.notices ??= [];
  call.notices.push(...found);
}

interface Writing {
  readonly call: Call;
  readonly old: KubeObject | undefined;
  /** Whether only the status is written. */
  readonly status?: boolean;
}
