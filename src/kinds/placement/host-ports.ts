/** The ports of its node that a pod takes. */

export interface HostPort {
  /** `0.0.0.0`: all of the node. */
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

interface Port {
  readonly containerPort: number;
  readonly hostPort?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly protocol?: string | undefined;
}

interface Ports {
  readonly ports?: readonly Port[] | undefined;
}

interface PodPorts {
  readonly spec: {
    readonly containers: readonly Ports[];
    readonly initContainers?: readonly (Ports & { readonly restartPolicy?: string | undefined })[] | undefined;
  };
}

export const ANY_ADDRESS = '0.0.0.0';

const NO_PORTS: readonly HostPort[] = Object.freeze([]);

/** Returns the host ports of a pod. Init containers have ended before others need theirs, sidecars have not. */
export function hostPortsOf(pod: PodPorts): readonly HostPort[] {
  return portsOf(pod, ({ hostPort }) => hostPort);
}

/** Returns the ports that a pod takes on a node whose pods share the network of the node: all that it declares. */
export function sharedPortsOf(pod: PodPorts): readonly HostPort[] {
  return portsOf(pod, ({ hostPort, containerPort }) => hostPort || containerPort);
}

function portsOf({ spec }: PodPorts, numberOf: (port: Port) => number | undefined): readonly HostPort[] {
  const found: HostPort[] = [];
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  for (const { ports } of [...spec.containers, ...sidecars]) {
    for (const each of ports ?? []) {
      const port = numberOf(each);
      if (port) found.push({ address: each.hostIP || ANY_ADDRESS, protocol: each.protocol ?? 'TCP', port });
    }
  }
  return found.length > 0 ? found : NO_PORTS;
}

/** Maps ports of a node to their holders. The wildcard address includes each address. */
export class PortTable<Holder> {
  readonly #byNumber = new Map<string, Holder>();
  readonly #byAddress = new Map<string, Holder>();

  add({ protocol, port, address }: HostPort, holder: Holder): void {
    this.#byNumber.set(`${protocol} ${port}`, holder);
    this.#byAddress.set(`${protocol} ${port} ${address}`, holder);
  }

  /** Returns the holder of a port; undefined when it is free. */
  holderOf({ protocol, port, address }: HostPort): Holder | undefined {
    const number = `${protocol} ${port}`;
    if (address === ANY_ADDRESS) return this.#byNumber.get(number);
    return this.#byAddress.get(`${number} ${address}`) ?? this.#byAddress.get(`${number} ${ANY_ADDRESS}`);
  }
}
