/** Every subresource the server knows: the one list. */
import { binding } from './pods/binding.ts';
import { eviction } from './pods/eviction.ts';
import { explain } from './pods/explain.ts';
import { finalize } from './finalize.ts';
import { log } from './pods/log.ts';
import { approval, ephemeralContainers, resize, status } from './object-part.ts';
import { rollback } from './rollback.ts';
import { scale } from './scale.ts';
import { attach, exec, portForward } from './pods/pod-stream.ts';
import type { Subresource } from './subresource.ts';
import { token } from './token.ts';

export const subresources: readonly Subresource[] = [
  status,
  scale,
  finalize,
  binding,
  eviction,
  explain,
  rollback,
  approval,
  ephemeralContainers,
  resize,
  token,
  log,
  exec,
  attach,
  portForward,
];
