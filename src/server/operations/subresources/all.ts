/** The single list of all subresources served. The compiler checks that each name has its descriptor. */
import type { SubresourceName } from '../../../kinds/subresources.ts';
import { finalize } from './finalize.ts';
import { ephemeralContainers, objectPart, resize } from './object-part.ts';
import { attach } from './pods/attach.ts';
import { binding } from './pods/binding.ts';
import { eviction } from './pods/eviction.ts';
import { exec } from './pods/exec.ts';
import { explain } from './pods/explain.ts';
import { log } from './pods/log.ts';
import { portForward } from './pods/port-forward.ts';
import { proxy } from './proxy/proxy.ts';
import { rollback } from './rollback.ts';
import { scale } from './scale.ts';
import type { Subresource } from './subresource.ts';
import { token } from './token.ts';

const byName: { readonly [N in SubresourceName]: Subresource<N> } = {
  // The kind preserves everything but the conditions.
  approval: objectPart('approval', 'any'),
  attach,
  binding,
  ephemeralcontainers: ephemeralContainers,
  eviction,
  exec,
  explain,
  finalize,
  log,
  portforward: portForward,
  proxy,
  resize,
  rollback,
  scale,
  status: objectPart('status', 'status'),
  token,
};

export const allSubresources: readonly Subresource[] = Object.values(byName);
