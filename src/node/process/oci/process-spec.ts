import { capabilitySets, grantedCapabilities } from './capabilities.ts';
import type { ContainerInput, OciMachine } from './input.ts';
import type { OciProcess } from './spec.ts';

export interface ProcessOptions extends Pick<ContainerInput, 'config' | 'identity' | 'machine'> {
  readonly command: readonly string[];
  readonly tty: boolean;
}

export function processSpec({ config, identity, command, tty, machine }: ProcessOptions): OciProcess {
  const { security, resources } = config;
  return {
    terminal: tty,
    user: { uid: identity.uid, gid: identity.gid, additionalGids: identity.groups },
    args: command,
    env: identity.env,
    cwd: identity.workingDirectory,
    capabilities: capabilitySets(grantedCapabilities(security, machine.capabilities), identity.uid),
    noNewPrivileges: security.noNewPrivileges,
    ...oomScore(resources.oomScoreAdj, machine),
  };
}

/** A lower value than its own needs a right that even root may lack; the container is killed a little earlier then. */
function oomScore(wanted: number | undefined, { minOomScoreAdj }: OciMachine): Pick<OciProcess, 'oomScoreAdj'> {
  if (wanted === undefined) return {};
  return { oomScoreAdj: minOomScoreAdj === undefined ? wanted : Math.max(wanted, minOomScoreAdj) };
}
