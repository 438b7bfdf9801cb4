/** Every subresource that the server knows. */
import { binding } from './binding.ts';
import { eviction } from './eviction.ts';
import { explain } from './explain.ts';
import { finalize } from './finalize.ts';
import { log } from './log.ts';
import { approval, ephemeralContainers, resize, status } from './parts.ts';
import { rollback } from './rollback.ts';
import { scale } from './scale.ts';
import { attach, exec, portForward } from './streams.ts';
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
