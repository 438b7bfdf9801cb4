import { Rbac } from '../access/authz/rbac/rbac.ts';
import { Allocation, type AllocationOptions } from '../objects/allocation/allocation.ts';
import { DraftedCache } from '../objects/cache/drafted-cache.ts';
import type { DraftPorts } from '../objects/transaction/several.ts';
import { AdmissionChain } from './admission/chain.ts';
import type { AdmissionPlugin } from './admission/plugin.ts';
import type { OperationPorts } from './ports.ts';

interface DraftOptions {
  readonly plugins: readonly AdmissionPlugin[];
  readonly allocation: Omit<AllocationOptions, 'cache'>;
}

/** Creates ports whose cache shows drafts: what admits and completes objects reads it as if they were stored. */
export function draftPorts(core: OperationPorts, { plugins, allocation }: DraftOptions): DraftPorts {
  const cache = new DraftedCache(core.cache);
  const ports = {
    ...core,
    cache,
    rbac: new Rbac(cache),
    allocation: new Allocation({ ...allocation, cache }),
    admission: new AdmissionChain(plugins, () => ports),
  } as OperationPorts & DraftPorts;
  return ports;
}
