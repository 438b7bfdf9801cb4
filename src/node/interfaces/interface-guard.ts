/** Guards interfaces of pods with nftables. */
import type { ProgramShell } from '../../base/programs/program-shell.ts';
import { runProgram } from '../../base/programs/run-program.ts';
import { type GuardedInterface, guardCommands, releaseCommands, tablePrefix } from './guard-rules.ts';
import { addChain, addTable, deleteTable, type NftCommand, type NftTable, nftText } from './nft-json.ts';
import { runNft } from './run-nft.ts';

export interface InterfaceGuardOptions {
  /** Identifies the node on this machine. */
  readonly name: string;
  /** Path of the program; undefined: it is not installed. */
  readonly nft: string | undefined;
  /** A command that runs another one in the network of the node; empty: that of this process. */
  readonly enter: readonly string[];
  /** Runs `nft -j` there; missing: this process starts it. */
  readonly shell?: ProgramShell | undefined;
}

/** Linux has hooks for packets that arrive since 4.2 and for those that leave since 5.16. */
type Support = 'both' | 'sent' | 'none';

/** Every network has it. */
const PROBED_DEVICE = 'lo';

export class InterfaceGuard {
  private constructor(
    private readonly options: InterfaceGuardOptions,
    private readonly support: Support,
  ) {}

  /** Finds out what this machine supports. Interfaces that are guarded already stay so. */
  static async open(options: InterfaceGuardOptions): Promise<InterfaceGuard> {
    const works = (...hooks: readonly ('ingress' | 'egress')[]) =>
      run(options, probe(options.name, hooks)).then(
        () => true,
        () => false,
      );
    if (options.nft === undefined) return new InterfaceGuard(options, 'none');
    if (await works('ingress', 'egress')) return new InterfaceGuard(options, 'both');
    return new InterfaceGuard(options, (await works('ingress')) ? 'sent' : 'none');
  }

  /** Gap in the guard on this machine, and its reason, as a sentence; undefined: none. */
  get limitation(): string | undefined {
    const why = this.options.nft === undefined ? 'nft is not installed' : 'the kernel has no nftables hook for it';
    return limitationOf(this.support, why);
  }

  /** Lets only packets with its own addresses pass. What the interface had before is replaced. */
  async protect(...interfaces: readonly GuardedInterface[]): Promise<void> {
    const commands = this.#commands(interfaces);
    if (commands.length > 0) await run(this.options, commands);
  }

  /** Input of `nft -j` for `protect`, for a caller that runs it beside other programs; undefined: nothing to do. */
  document(guarded: GuardedInterface): string | undefined {
    const commands = this.#commands([guarded]);
    return commands.length > 0 ? nftText(commands) : undefined;
  }

  #commands(interfaces: readonly GuardedInterface[]): readonly NftCommand[] {
    if (this.support === 'none') return [];
    const options = { guardsReceived: this.support === 'both' };
    return interfaces.flatMap((each) => guardCommands(this.options.name, each, options));
  }

  /** Forgets the interface of a sandbox. */
  async release(sandboxId: string): Promise<void> {
    if (this.support !== 'none') await run(this.options, releaseCommands(this.options.name, sandboxId));
  }

  /** Removes everything. */
  remove(): Promise<void> {
    return removeGuards(this.options);
  }
}

function limitationOf(support: Support, why: string): string | undefined {
  switch (support) {
    case 'both':
      return undefined;
    case 'sent':
      return `Pods can receive packets to other addresses than their own: ${why}.`;
    case 'none':
      return `Pods can send packets with the addresses of others, and network policies do not hold for those: ${why}.`;
  }
}

/** Output of `nft -j` about tables. */
interface TableListing {
  readonly nftables: readonly { readonly table?: { readonly name: string } }[];
}

/** Removes the guards of all interfaces of a node, also of one that was killed. */
export async function removeGuards(options: InterfaceGuardOptions): Promise<void> {
  const { nft, enter, name } = options;
  if (nft === undefined) return;
  const { nftables } = JSON.parse(await runProgram([...enter, nft, '-j', 'list', 'tables', 'netdev'])) as TableListing;
  const own = nftables.flatMap(({ table }) => (table?.name.startsWith(tablePrefix(name)) ? [table.name] : []));
  if (own.length > 0)
    await run(
      options,
      own.map((table) => deleteTable({ family: 'netdev', name: table })),
    );
}

/** Makes chains and removes them in one transaction. */
function probe(node: string, hooks: readonly ('ingress' | 'egress')[]): readonly NftCommand[] {
  const table: NftTable = { family: 'netdev', name: `${tablePrefix(node)}probe` };
  return [
    addTable(table),
    ...hooks.map((hook) =>
      addChain(table, hook, { type: 'filter', hook, prio: 0, policy: 'accept', dev: PROBED_DEVICE }),
    ),
    deleteTable(table),
  ];
}

async function run({ nft, ...options }: InterfaceGuardOptions, commands: readonly NftCommand[]): Promise<void> {
  if (nft !== undefined) await runNft(nft, commands, options);
}
