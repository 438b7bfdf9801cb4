import { findProgram } from '../../node/containerd/own/machine.ts';

/** Reports whether the addresses of Services can be reached: nftables leads to their endpoints. `path` is the value of PATH. */
export async function mayMakeRules(path: string): Promise<boolean> {
  return process.getuid?.() === 0 && (await findProgram('nft', path)) !== undefined;
}
