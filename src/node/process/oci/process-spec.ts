/** A process of a container: its first one, or that of exec. */
import type { ContainerConfig } from '../../runtime/container-config.ts';
import { capabilitySets, grantedCapabilities } from './capabilities.ts';
import type { ProcessIdentity } from './identity.ts';
import type { OciMachine } from './input.ts';
import type { OciProcess } from './spec.ts';

export interface ProcessOptions {
  readonly config: ContainerConfig;
  readonly identity: ProcessIdentity;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly machine: OciMachine;
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
