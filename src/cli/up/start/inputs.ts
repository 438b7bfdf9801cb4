/**
 * Inputs that the settings refer to: files are read, names and combinations checked, before anything is created. After a start
 * that was rejected for its flags, nothing is there that was not there before.
 */

import type { NodePlan } from '../../../assembly/cluster-nodes/node-plan.ts';
import type { Logger } from '../../../base/log.ts';
import type { AdmissionPlugin } from '../../../server/operations/admission/plugin.ts';
import type { FlowControlSettings } from '../../../server/upkeep/flow-control/create-flow-control.ts';
import type { StoreImage } from '../../../store/memory/memory-store.ts';
import { checkNodeFlags } from '../../agent/node-config.ts';
import { rangesOverlap } from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';
import { checkWritableDirectory } from '../../process/writable.ts';
import { admission } from '../api/admission.ts';
import { type Authorization, authorization } from '../api/authorization.ts';
import { flowControlSettings } from '../api/load.ts';
import { checkControllers } from '../components/choice.ts';
import { type PlanOptions, planNodes } from '../components/plan-nodes.ts';
import type { Settings } from '../flags.ts';
import { type AuthenticationFiles, readAuthenticationFiles } from '../identity/authentication-files.ts';
import { checkKubeconfig } from '../identity/kubeconfig.ts';
import { checkListeners } from '../listeners/check.ts';
import { type AuditInputs, readAuditInputs } from '../observability/audit-inputs.ts';
import { type BackupInputs, readBackupInputs } from '../store/backups/plan.ts';
import { checkKeyFile } from '../store/key-file.ts';
import { readRestore } from '../testing/restore.ts';

export interface Inputs {
  readonly authentication: AuthenticationFiles;
  readonly authorization: Authorization;
  readonly admission: readonly AdmissionPlugin[];
  readonly flowControl: FlowControlSettings;
  readonly audit: AuditInputs;
  readonly nodes: NodePlan;
  /** Where backups go; undefined: there is nothing to back up. */
  readonly backups: BackupInputs | undefined;
  /** The objects to start with. */
  readonly restore: StoreImage | undefined;
}

/** Rejects when the settings cannot be used. */
export async function readInputs(settings: Settings, options: PlanOptions & { readonly log: Logger }): Promise<Inputs> {
  const { kubeconfig, encryptionKeyFile, storeDir, volumesDir } = settings;
  checkControllers(settings);
  if (settings.clock === 'manual' && settings.runtime !== 'simulated' && settings.nodes !== 0) {
    throw new CliError('--clock manual needs --runtime simulated: real pods do not wait for it');
  }
  checkRanges(settings);
  await checkNodeFlags(settings);
  const inputs = {
    admission: admission(settings),
    flowControl: flowControlSettings(settings),
    authentication: await readAuthenticationFiles(settings),
    authorization: await authorization(settings),
    audit: await readAuditInputs(settings),
    nodes: await planNodes(settings, options),
    backups: await readBackupInputs(settings, options.directory, options.log),
    restore: await readRestore(settings),
  };
  if (encryptionKeyFile !== undefined) await checkKeyFile(encryptionKeyFile);
  if (storeDir !== undefined) await checkWritableDirectory('--store-dir', storeDir);
  if (volumesDir !== undefined) await checkWritableDirectory('--volumes-dir', volumesDir);
  if (kubeconfig !== undefined) await checkKubeconfig(kubeconfig);
  await checkListeners(settings);
  return inputs;
}

/** An address cannot be that of a pod and of a service. */
function checkRanges({ clusterCidr, serviceClusterIpRange }: Settings): void {
  if (clusterCidr === undefined || !rangesOverlap(clusterCidr, serviceClusterIpRange)) return;
  throw new CliError(
    `--cluster-cidr ${clusterCidr} and --service-cluster-ip-range ${serviceClusterIpRange} must not overlap`,
  );
}
