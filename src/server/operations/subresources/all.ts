/**
 * The single list of all subresources that the server serves. The compiler checks that each name has its descriptor.
 */
import type { SubresourceName } from '../../../kinds/subresources.ts';
import { approval } from './approval.ts';
import { finalize } from './finalize.ts';
import { attach } from './pods/attach.ts';
import { binding } from './pods/binding.ts';
import { ephemeralContainers } from './pods/ephemeral-containers.ts';
import { eviction } from './pods/eviction.ts';
import { exec } from './pods/exec.ts';
import { explain } from './pods/explain.ts';
import { log } from './pods/log.ts';
import { portForward } from './pods/port-forward.ts';
import { resize } from './pods/resize.ts';
import { proxy } from './proxy/proxy.ts';
import { rollback } from './rollback.ts';
import { scale } from './scale.ts';
import { status } from './status.ts';
import type { Subresource } from './subresource.ts';
import { token } from './token.ts';

const byName: { readonly [N in SubresourceName]: Subresource<N> } = {
  approval,
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
  status,
  token,
};

export const allSubresources: readonly Subresource[] = Object.values(byName);
