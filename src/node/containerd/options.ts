/** Options by which the agent selects its containerd. */
import type { Tools } from '../../base/tools.ts';
import type { RegistrySettings } from '../images/registry/hosts.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface ContainerdOptions extends Pick<Tools, 'clock' | 'log'> {
  /**
   * `own`: a containerd that belongs to this node. `auto`: the one of the machine if it serves CRI and this node has
   * none of its own yet, else an own one. `existing`: the same, for a program beside the agent: a running own one is
   * used as it is, and neither configured nor started again.
   */
  readonly endpoint: 'auto' | 'own' | 'existing' | { readonly socket: string };
  /** Directory for the files of an own containerd. Relative paths are not allowed. */
  readonly directory: string;
  /**
   * Identifies the node on this machine, now and after a restart: it names the bridge, and marks the sandboxes, so that
   * several nodes and clusters can share a containerd.
   */
  readonly name: string;
  /** The ranges of the pods' addresses. Empty: not known yet; pods on their own network wait for `configureNetwork`. */
  readonly podCIDRs: readonly string[];
  /** Mirrors, and registries without TLS; only for an own containerd. */
  readonly registries?: RegistrySettings;
  /** Path of the network namespace in which an own containerd runs, with its bridge; undefined: the one of this process. */
  readonly networkNamespace?: string;
  /** The host name of pods on the network of the node, with an own containerd; undefined: the machine's. */
  readonly hostName?: string;
  /** The address where an own containerd serves exec, attach and port-forward; default: 127.0.0.1. */
  readonly streamAddress?: string;
  /** Directories to search for programs, as in PATH. */
  readonly path: string;
}

export interface ContainerdRuntime extends Runtime {
  /** Path of the socket that is used. */
  readonly socket: string;
  /** True when the containerd belongs to this node. */
  readonly isOwn: boolean;
  /** Configures the pod network if there is no other configuration; takes effect for new sandboxes. */
  configureNetwork(podCIDRs: readonly string[]): Promise<void>;
}
