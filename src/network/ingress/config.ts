/** Configuration of the ingress proxy. Plain values: the controller computes them from objects. */

export interface BackendAddress {
  readonly address: string;
  readonly port: number;
  /** Present when it may be an address of this machine: it is that of a pod, and pods may have the network of their node. */
  readonly mayBeOwn?: true;
}

export interface PathRule {
  readonly path: string;
  readonly type: 'Exact' | 'Prefix';
  /** Key of the backend. */
  readonly backend: string;
}

export interface IngressCertificate {
  /** Hosts of the certificate; empty: all hosts that have no other one. */
  readonly hosts: readonly string[];
  readonly cert: string;
  readonly key: string;
}

export interface IngressConfig {
  /** Rules by host, `*.` with one label less, or empty for all hosts. */
  readonly hosts: ReadonlyMap<string, readonly PathRule[]>;
  /** The namespace that owns each host, and so all requests for it. Empty when namespaces share hosts. */
  readonly owners: ReadonlyMap<string, string>;
  /** Backend for requests that nothing else matches. */
  readonly defaultBackend: string | undefined;
  /** Ready addresses by key; none when nothing is ready. */
  readonly backends: ReadonlyMap<string, readonly BackendAddress[]>;
  readonly certificates: readonly IngressCertificate[];
}

export const EMPTY_CONFIG: IngressConfig = {
  hosts: new Map(),
  owners: new Map(),
  defaultBackend: undefined,
  backends: new Map(),
  certificates: [],
};
