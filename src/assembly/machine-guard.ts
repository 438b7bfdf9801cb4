/** The guard of what this process dials on somebody's behalf. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DialGuard } from '../base/sockets/dial/dial-guard.ts';

interface MachineGuardOptions {
  /** The value of `--allowed-dial-ranges`. */
  readonly allowedDialRanges?: readonly string[] | undefined;
  /** Further hosts that must not be dialled: of the node, and of the API server. Names among them are left out. */
  readonly ownHosts?: readonly string[];
}

export function machineGuard({ allowedDialRanges, ownHosts = [] }: MachineGuardOptions): DialGuard {
  const others = ownHosts.filter((host) => isIP(host) !== 0);
  return new DialGuard({ ownAddresses: () => [...ownAddresses(), ...others], allowedRanges: allowedDialRanges ?? [] });
}

/** Interfaces come and go, those of pods among them. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
