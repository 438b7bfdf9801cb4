import type { Call } from '../../../../api/call.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import type { HookContext } from '../../../../kinds/kind.ts';
import type { Tools } from '../../ports.ts';
import { declaredSubresource } from '../../registry/api-request.ts';

/** Creates the context of a call for a kind's hooks. */
export function hookContext({ clock, random }: Pick<Tools, 'clock' | 'random'>, call: Call): HookContext {
  const { apiVersion, user } = call;
  const subresource = declaredSubresource(call);
  return { now: timestamp(clock.now()), uuid: random.uuid, apiVersion, subresource, user };
}
