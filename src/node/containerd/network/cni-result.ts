/** Reads from the status of a sandbox which interface CNI has made for it. Tested with containerd 1.6. */
import type { GuardedInterface } from '../../interfaces/guard-rules.ts';

/** Part of containerd's report about a sandbox, as JSON. */
interface SandboxInfo {
  readonly cniResult?: {
    readonly Interfaces?: Readonly<Record<string, CniInterface>>;
  };
}

interface CniInterface {
  readonly IPConfigs?: readonly { readonly IP?: string }[] | null;
  readonly Mac?: string;
  /** Sandbox; empty for an interface of the node. */
  readonly Sandbox?: string;
}

type PodInterface = Omit<GuardedInterface, 'sandboxId'>;

const INSIDE = 'eth0';

/**
 * Returns the interface; undefined when the sandbox has none on this bridge. Throws when it has one that is not
 * described.
 */
export function interfaceIn(info: string | undefined, bridge: string): PodInterface | undefined {
  const { cniResult } = JSON.parse(info || '{}') as SandboxInfo;
  const interfaces = cniResult?.Interfaces ?? {};
  if (!Object.hasOwn(interfaces, bridge)) return undefined;
  const device = Object.entries(interfaces).find(([name, { Sandbox }]) => name !== bridge && !Sandbox)?.[0];
  const { Mac: mac, IPConfigs } = interfaces[INSIDE] ?? {};
  const address = IPConfigs?.map(({ IP = '' }) => IP).find((each) => each.includes('.'));
  if (device === undefined || mac === undefined || address === undefined)
    throw new Error('the runtime does not say which interface the pod has');
  return { device, address, mac: mac.toLowerCase() };
}
