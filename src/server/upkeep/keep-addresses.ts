/** Maintains an IPAddress for every cluster IP of a service. */
import { Service } from '../../kinds/groups/core/service/service.ts';
import { allocatedTo } from '../../kinds/groups/core/service/service-addresses.ts';
import { IPAddress } from '../../kinds/groups/networking/ip-address.ts';
import { canonicalIp } from '../../kinds/shapes/meta/addresses/canonical-ip.ts';
import { newAddress } from '../objects/allocation/new-address.ts';
import { type OwnWrite, writeOwn } from '../objects/transaction/own-writes.ts';
import type { TransactionPorts } from '../objects/transaction/ports.ts';
import { Upkeep } from './upkeep.ts';

/** A cluster IP in canonical form, and its service. */
interface ServiceAddress {
  readonly address: string;
  readonly namespace: string;
  readonly name: string;
}

/** Recreates IPAddresses that are deleted while a service has the address. */
export function keepAddresses(core: TransactionPorts): Upkeep {
  const deleted = new Map<string, ServiceAddress>();
  const upkeep = new Upkeep(core, {
    failure: 'the addresses of services could not be recorded',
    async reconcile() {
      const candidates = [...deleted.values()];
      const withoutAdmission = 'the address is allocated already';
      const missing = () => candidates.filter((each) => isMissing(core, each)).map(creation);
      await writeOwn(core, { withoutAdmission, plan: missing });
      for (const each of candidates) if (deleted.get(each.address) === each) deleted.delete(each.address);
    },
  });
  upkeep.follow([IPAddress], ({ entry, previous, at }) => {
    if (entry || !previous) return;
    const { parentRef } = (previous.hub(IPAddress) as IPAddress).spec;
    if (parentRef.resource !== 'services') return;
    deleted.set(at.name, { address: at.name, namespace: parentRef.namespace ?? '', name: parentRef.name });
    upkeep.loop.add('addresses');
  });
  return upkeep;
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
