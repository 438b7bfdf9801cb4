/** Which admission plugins run, from the flags. */
import { type Command, InvalidArgumentError } from 'commander';
import { admissionPluginNames, admissionPlugins } from '../../../server/admission/all.ts';
import type { AdmissionPlugin } from '../../../server/admission/plugin.ts';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';

export interface AdmissionFlags {
  readonly enableAdmissionPlugins?: readonly string[];
  readonly disableAdmissionPlugins?: readonly string[];
}

export function withAdmissionFlags(command: Command): Command {
  return command
    .option('--enable-admission-plugins <names>', 'admission plugins to run besides the usual ones', names)
    .option('--disable-admission-plugins <names>', 'usual admission plugins not to run', names);
}

function names(text: string): readonly string[] {
  const named = value.list(text);
  const unknown = named.find((name) => !admissionPluginNames.includes(name));
  if (unknown === undefined) return named;
  throw new InvalidArgumentError(`"${unknown}" is none of ${admissionPluginNames.join(', ')}.`);
}

/** How the server's options say it. */
export function admission(flags: AdmissionFlags): { admission: readonly AdmissionPlugin[] } {
  const { enableAdmissionPlugins: enabled = [], disableAdmissionPlugins: disabled = [] } = flags;
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined) throw new CliError(`the admission plugin ${both} is both enabled and disabled`);
  return { admission: admissionPlugins({ enabled, disabled }) };
}
