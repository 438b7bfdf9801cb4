/** Guards the interfaces that CNI has made for pods, and keeps IPv6 away from them. Only in the network that this program configures. */
import { existsSync } from 'node:fs';
import { ProgramShell } from '../../../base/programs/program-shell.ts';
import { InterfaceGuard } from '../../interfaces/interface-guard.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';
import { OWNER_LABEL } from '../conversion/labels.ts';
import { findProgram } from '../own/machine.ts';
import { bridgeOf } from './cni.ts';
import { interfaceIn } from './cni-result.ts';

interface PodInterfacesOptions {
  readonly connection: Connection;
  /** Identifies the node on this machine. */
  readonly name: string;
  /** Directories to search for programs. */
  readonly path: string;
  /** The network namespace of the node; undefined: that of this process. */
  readonly networkNamespace: string | undefined;
}

const IPV6_SETTINGS = '/proc/sys/net/ipv6/conf';
const NO_IPV6 = { 'net.ipv6.conf.eth0.disable_ipv6': '1' };

export class PodInterfaces {
  /** Guards under way, and failed ones, by sandbox. */
  readonly #pending = new Map<string, Promise<void>>();
  /** True when pods are attached to the bridge of this program, and to nothing else. */
  isOwnNetwork = false;

  private constructor(
    private readonly options: PodInterfacesOptions,
    private readonly guard: InterfaceGuard,
    private readonly shell: ProgramShell | undefined,
  ) {}

  static async open(options: PodInterfacesOptions): Promise<PodInterfaces> {
    const guarding = await guardOptions(options);
    const { nft, enter } = guarding;
    const shell = nft === undefined ? undefined : new ProgramShell([...enter, nft, '-j']);
    const guard = await InterfaceGuard.open({ ...guarding, shell });
    return new PodInterfaces(options, guard, shell);
  }

  /** Missing protection of pods on this machine, as a sentence. */
  get limitation(): string | undefined {
    return this.guard.limitation;
  }

  /** Settings of the pod's network besides its own: pods of IPv4 ranges have no IPv6. */
  sysctls({ namespaces, sysctls }: SandboxConfig): SandboxConfig['sysctls'] {
    const isMeant = this.isOwnNetwork && namespaces.network === 'pod' && existsSync(IPV6_SETTINGS);
    return isMeant ? { ...sysctls, ...NO_IPV6 } : sysctls;
  }

  /** Begins to guard the interface of a sandbox. */
  protect(sandboxId: string): void {
    const guarded = this.#protect(sandboxId).then(() => void this.#pending.delete(sandboxId));
    guarded.catch(() => undefined);
    this.#pending.set(sandboxId, guarded);
  }

  /** Resolves when the interface of a sandbox is guarded, which the first container waits for. Rejects with a RuntimeError. */
  async whenProtected(sandboxId: string): Promise<void> {
    await this.#pending.get(sandboxId);
  }

  async #protect(sandboxId: string): Promise<void> {
    const found = await this.#interfaceOf(sandboxId);
    if (!found) return;
    await this.guard.protect(found).catch((error: Error) => {
      throw new RuntimeError('Unknown', `the interface of the pod could not be guarded: ${error.message}`);
    });
  }

  /** Guards the interfaces of running sandboxes, in one transaction. */
  async protectAll(): Promise<void> {
    const filter = { labels: { [OWNER_LABEL]: this.options.name } };
    const { items } = await this.options.connection.call(cri.listSandboxes, { filter });
    const ready = items.filter(({ state }) => state === 'ready');
    const found = await Promise.all(ready.map(({ id }) => this.#interfaceOf(id).catch(() => undefined)));
    await this.guard.protect(...found.filter((each) => each !== undefined));
  }

  async release(sandboxId: string): Promise<void> {
    await this.#pending.get(sandboxId)?.catch(() => undefined);
    this.#pending.delete(sandboxId);
    await this.guard.release(sandboxId).catch(() => undefined);
  }

  close(): void {
    this.shell?.close();
  }

  async #interfaceOf(sandboxId: string) {
    const { connection, name } = this.options;
    const { info } = await connection.call(cri.sandboxStatus, { id: sandboxId, verbose: true });
    const found = interfaceIn(info.info, bridgeOf(name));
    return found && { sandboxId, ...found };
  }
}

export async function guardOptions({ name, path, networkNamespace }: Omit<PodInterfacesOptions, 'connection'>) {
  const [nft, nsenter] = await Promise.all(['nft', 'nsenter'].map((program) => findProgram(program, path)));
  const canEnter = networkNamespace === undefined || nsenter !== undefined;
  const enter = networkNamespace === undefined || !nsenter ? [] : [nsenter, `--net=${networkNamespace}`];
  return { name, nft: canEnter ? nft : undefined, enter };
}
