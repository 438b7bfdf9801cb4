/** Settings of an agent: from the command line, else from its data directory, else the default. */
import { propertyOf } from '../../base/flag.ts';
import { withoutUndefined } from '../../base/json/tree.ts';
import { type AgentFlags, agentFlags, type GivenAgentFlags } from './flags.ts';

/** Values that the data directory keeps, so that the next start needs no flags. */
export type RememberedFlags = Partial<AgentFlags>;

export function settleAgent(given: GivenAgentFlags, remembered: RememberedFlags): AgentFlags {
  const defaults = Object.fromEntries(
    agentFlags.map((flag) => [propertyOf(flag), 'default' in flag ? flag.default : undefined]),
  );
  return { ...defaults, ...withoutReplaced(rememberedOf(remembered), given), ...withoutUndefined(given) } as AgentFlags;
}

/** An authority can be named in two ways, of which the one on the command line counts. */
function withoutReplaced(remembered: RememberedFlags, given: GivenAgentFlags): RememberedFlags {
  if (given.caFile === undefined && given.caHash === undefined) return remembered;
  const { caFile: _file, caHash: _hash, ...rest } = remembered;
  return rest;
}

/** The values that the data directory keeps: no tokens. */
export function rememberedOf(flags: Partial<AgentFlags>): RememberedFlags {
  const names = new Set(agentFlags.filter((flag) => 'remembered' in flag && flag.remembered).map(propertyOf));
  return Object.fromEntries(Object.entries(withoutUndefined(flags)).filter(([name]) => names.has(name)));
}
