import type { Exchange } from '../../exchange.ts';
import { type LifecycleOptions, RequestLifecycle } from './request-lifecycle.ts';

/** Starts a request's deadline. */
export function acceptStage(options: LifecycleOptions) {
  return (exchange: Exchange): RequestLifecycle => new RequestLifecycle(exchange, options);
}
