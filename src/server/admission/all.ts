/** Every admission plugin, in the order in which they are asked. */
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import type { AdmissionPlugin } from './plugin.ts';

interface Listed {
  readonly plugin: AdmissionPlugin;
  /** Whether it is there without being asked for. */
  readonly isDefault: boolean;
}

const on = (plugin: AdmissionPlugin): Listed => ({ plugin, isDefault: true });

// What refuses without changing anything stands where Kubernetes has it; quotas come last, when all else has been decided.
const listed: readonly Listed[] = [on(namespaceLifecycle)];

/** Names that clients of Kubernetes know, in the order of the chain. */
export const admissionPluginNames: readonly string[] = listed.map(({ plugin }) => plugin.name);

/** The chain: what is there by default, with what is enabled and without what is disabled. */
export function admissionPlugins(
  chosen: { readonly enabled?: readonly string[]; readonly disabled?: readonly string[] } = {},
): readonly AdmissionPlugin[] {
  const { enabled = [], disabled = [] } = chosen;
  return listed
    .filter(({ plugin: { name }, isDefault }) => (isDefault || enabled.includes(name)) && !disabled.includes(name))
    .map(({ plugin }) => plugin);
}
