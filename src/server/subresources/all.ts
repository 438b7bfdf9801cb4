import { finalize } from './finalize.ts';
import { rollback } from './rollback.ts';
import { status } from './status.ts';
import type { Subresource } from './subresource.ts';
export const subresources: readonly Subresource[] = [status, finalize, rollback];
