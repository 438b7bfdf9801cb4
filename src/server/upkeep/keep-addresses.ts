/** Maintains an IPAddress for every cluster IP of a service. */
import { soon } from '../../base/event-loop/soon.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { allocatedTo } from '../../kinds/groups/core/service/service-addresses.ts';
import { IPAddress } from '../../kinds/groups/networking/ip-address.ts';
import { canonicalIp } from '../../kinds/shapes/meta/canonical-ip.ts';
import { newAddress } from '../objects/allocation/new-address.ts';
import { type OwnWrite, writeOwn } from '../objects/transaction/own-writes.ts';
import type { TransactionPorts } from '../objects/transaction/ports.ts';

/** A cluster IP in canonical form, and its service. */
interface ServiceAddress {
  readonly address: string;
  readonly namespace: string;
  readonly name: string;
}

/** Recreates IPAddresses that are deleted while a service has the address. */
export function keepAddresses(core: TransactionPorts): void {
  const { cache, log } = core;
  let deleted: ServiceAddress[] = [];
  const plan = soon(() => {
    const candidates = deleted;
    deleted = [];
    const withoutAdmission = 'the address is allocated already';
    const missing = () => candidates.filter((each) => isMissing(core, each)).map(creation);
    writeOwn(core, { withoutAdmission, plan: missing }).catch((error: unknown) =>
      log.warn('the addresses of services could not be recorded', { error }),
    );
  });
  cache.table(IPAddress).listeners.add(({ entry, previous, at }) => {
    if (entry || !previous) return;
    const { parentRef } = (previous.hub(IPAddress) as IPAddress).spec;
    if (parentRef.resource !== 'services') return;
    deleted.push({ address: at.name, namespace: parentRef.namespace ?? '', name: parentRef.name });
    plan();
  });
}

function isMissing({ cache }: TransactionPorts, { address, namespace, name }: ServiceAddress): boolean {
  if (cache.table(IPAddress).get('', address)) return false;
  const service = cache.table(Service).get(namespace, name)?.hub(Service) as Service | undefined;
  return service !== undefined && allocatedTo(service.spec).clusterIPs.map(canonicalIp).includes(address);
}

function creation({ address, namespace, name }: ServiceAddress): OwnWrite {
  const object = () => newAddress(address, { namespace, name });
  return { kind: IPAddress, namespace: '', name: address, mutation: { type: 'create', object } };
}
