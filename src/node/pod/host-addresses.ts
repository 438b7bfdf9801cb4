/** The addresses of the node that a pod wants ports at (`ports[].hostIP`): the API accepts any text. */
import { isIP } from 'node:net';
import type { SeenPod } from './container-run.ts';

/** The container and the text of the first one that is no address; undefined if there is none. */
export function wrongHostAddress(
  { spec }: SeenPod,
  isAddress: (text: string) => boolean = (text) => isIP(text) !== 0,
): { readonly container: string; readonly hostIP: string } | undefined {
  for (const { name, ports } of [...(spec.initContainers ?? []), ...spec.containers]) {
    const wrong = ports?.find(({ hostIP }) => hostIP && !isAddress(hostIP))?.hostIP;
    if (wrong !== undefined) return { container: name, hostIP: wrong };
  }
  return undefined;
}
