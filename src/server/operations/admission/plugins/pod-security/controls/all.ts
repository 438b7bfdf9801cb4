/** All controls. Those of `baseline` come first, each level in the order of its messages. */
import type { Control } from '../control.ts';
import { capabilitiesBaseline, capabilitiesRestricted } from './capabilities.ts';
import { hostImage, hostNamespaces, hostPathVolumes, hostPorts, hostProbesAndHostLifecycle, sysctls } from './host.ts';
import {
  allowPrivilegeEscalation,
  privileged,
  procMount,
  procMountRestricted,
  runAsNonRoot,
  runAsUser,
  windowsHostProcess,
} from './privileges.ts';
import { appArmorProfile, seccompProfileBaseline, seccompProfileRestricted, seLinuxOptions } from './profiles.ts';
import { restrictedVolumes } from './volumes.ts';

export const allControls: readonly Control[] = [
  ...[appArmorProfile, capabilitiesBaseline, hostImage, hostNamespaces, hostPathVolumes, hostPorts],
  ...[
    hostProbesAndHostLifecycle,
    privileged,
    procMount,
    seLinuxOptions,
    seccompProfileBaseline,
    sysctls,
    windowsHostProcess,
  ],
  ...[allowPrivilegeEscalation, capabilitiesRestricted, procMountRestricted, restrictedVolumes],
  ...[runAsNonRoot, runAsUser, seccompProfileRestricted],
];
