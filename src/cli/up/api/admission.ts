import { admissionPlugins } from '../../../server/operations/admission/all.ts';
import type { AdmissionPlugin } from '../../../server/operations/admission/plugin.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ApiFlags } from './flags.ts';

/** The admission plugins to run, in their order. */
export function admission(
  settings: Pick<ApiFlags, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'>,
): readonly AdmissionPlugin[] {
  const { enableAdmissionPlugins: enabled = [], disableAdmissionPlugins: disabled = [] } = settings;
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined) throw new CliError(`admission plugin ${both} is both enabled and disabled`);
  return admissionPlugins({ enabled, disabled });
}
