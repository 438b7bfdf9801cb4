/** Contract of the part that changes routes and the tunnel to other machines. */

/** An interface of this machine. */
export interface Link {
  readonly name: string;
  readonly mtu: number;
  /** IPv4, with the length of their prefix. */
  readonly addresses: readonly string[];
}

export interface Route {
  readonly range: string;
  readonly via: string;
}

export interface TunnelPeer {
  readonly remote: string;
  /** The address and hardware address at the other end of the tunnel. */
  readonly gateway: string;
  readonly mac: string;
  readonly ranges: readonly string[];
}

/** A VXLAN device that learns nothing: its peers are listed. */
export interface Tunnel {
  readonly vni: number;
  readonly port: number;
  readonly local: string;
  readonly address: string;
  readonly mac: string;
  readonly mtu: number;
  readonly peers: readonly TunnelPeer[];
}

export interface Routing {
  readonly routes: readonly Route[];
  readonly tunnel: Tunnel | undefined;
}

export interface Router {
  links(): Promise<readonly Link[]>;
  /** Makes these the only routes of an owner. Rejects with the routes that could not be changed. */
  route(owner: string, routing: Routing): Promise<void>;
}
