import { findProgram } from '../../../node/containerd/own/machine.ts';

/** Whether the addresses of Services can be reached: nftables leads to their endpoints. */
export async function mayMakeRules(): Promise<boolean> {
  return process.getuid?.() === 0 && (await findProgram('nft', process.env.PATH ?? '')) !== undefined;
}
