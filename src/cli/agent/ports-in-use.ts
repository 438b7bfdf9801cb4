/** Finds out which ports of a node have listeners, and whose those of the cluster are. */
import { ANY_ADDRESS } from '../../kinds/placement/host-ports.ts';
import { readListeners } from '../../network/kernel/local-kernel.ts';
import type { PortInUse } from '../../node/admission/ports.ts';
import { findProgram } from '../../node/containerd/own/machine.ts';

interface PortOwners {
  /** Path of the network namespace of the node; undefined: that of this process. */
  readonly networkNamespace: string | undefined;
  /** Who listens on TCP ports of the machine, as part of a sentence. Whoever is not named is another program. */
  readonly known: ReadonlyMap<number, string>;
}

/** Not those that pods have from an address of their own: these are in namespaces of their own, too. */
export async function portsInUse({ networkNamespace, known }: PortOwners): Promise<readonly PortInUse[]> {
  const nsenter = await findProgram('nsenter', process.env.PATH ?? '');
  const enter = networkNamespace === undefined || nsenter === undefined ? [] : [nsenter, `--net=${networkNamespace}`];
  return (await readListeners(enter)).map(({ protocol, address, port }) => ({
    protocol: protocol.toUpperCase(),
    address: address === '::' ? ANY_ADDRESS : address,
    port,
    holder: (protocol === 'tcp' && known.get(port)) || 'another program',
  }));
}
