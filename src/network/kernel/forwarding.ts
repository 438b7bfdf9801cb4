/** Lets packets of pods pass firewalls of the machine that drop forwarded packets, as Docker sets them up. */
import { isIPv6 } from 'node:net';
import { runProgram } from '../../base/programs/run-program.ts';
import { isName } from './expression.ts';
import { range as checkedRange } from './values.ts';

/** The contract. `owner` marks the rules: a name of letters, digits, dots and dashes. */
interface Forwarding {
  /** Replaces the rules of the owner: packets from and to these ranges pass, and those that services have redirected. */
  admit(owner: string, ranges: readonly string[]): Promise<void>;
  /** Removes them. */
  remove(owner: string): Promise<void>;
}

interface ForwardingOptions {
  /** Path of `nft`. */
  readonly nft: string;
  /** Paths of `iptables` and `ip6tables`; undefined where they are not installed. */
  readonly iptables: string | undefined;
  readonly ip6tables: string | undefined;
  /** A command that runs another one in the network namespace; empty: the namespace of this process. */
  readonly enter: readonly string[];
}

/** Output of `nft -j` for chains and rules. */
interface NftListing {
  readonly nftables: readonly {
    readonly chain?: NftChain;
    readonly rule?: { readonly handle: number; readonly comment?: string };
  }[];
}

interface NftChain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
  readonly hook?: string;
  readonly policy?: string;
}

const OWNER = /^qd-[A-Za-z0-9._-]{1,150}$/;
const OWN_TABLES = 'qd-';
/** Waits for others that change rules. */
const WAIT = ['-w', '10'];

/** The conditions under which packets pass, for nft. */
function nftConditions(family: string, ranges: readonly string[]): readonly string[] {
  const isMeant = (range: string) => family === 'inet' || isIPv6(base(range)) === (family === 'ip6');
  const word = (range: string) => (isIPv6(base(range)) ? 'ip6' : 'ip');
  return [
    ...ranges.filter(isMeant).flatMap((range) => ['saddr', 'daddr'].map((end) => `${word(range)} ${end} ${range}`)),
    'ct status dnat',
  ];
}

const base = (range: string) => range.split('/')[0] ?? '';

export class LocalForwarding implements Forwarding {
  constructor(private readonly options: ForwardingOptions) {}

  async admit(owner: string, ranges: readonly string[]): Promise<void> {
    ranges.forEach(checkedRange);
    await this.remove(owner);
    const closed = (await this.#chains()).filter(({ policy }) => policy === 'drop');
    const commands = closed.flatMap(({ family, table, name }) =>
      nftConditions(family, ranges).map(
        (condition) => `insert rule ${family} ${table} ${name} ${condition} counter accept comment "${owner}"`,
      ),
    );
    if (commands.length > 0) await this.#nft(['-f', '-'], commands.join('\n'));
    for (const [program, isOfFamily] of this.#programs()) {
      const own = ranges.filter((range) => isOfFamily(base(range)));
      if (own.length > 0 && (await this.#isClosed(program))) await this.#insert(program, owner, own);
    }
  }

  async remove(owner: string): Promise<void> {
    if (!OWNER.test(owner)) throw new Error(`"${owner}" is not a name for rules of this program`);
    for (const { family, table, name } of await this.#chains()) {
      const { nftables } = await this.#list(['-a', 'list', 'chain', family, table, name]);
      const own = nftables.flatMap(({ rule }) => (rule?.comment === owner ? [rule.handle] : []));
      const commands = own.map((handle) => `delete rule ${family} ${table} ${name} handle ${handle}`);
      if (commands.length > 0) await this.#nft(['-f', '-'], commands.join('\n'));
    }
    for (const [program] of this.#programs()) {
      const lines = (await this.#rules(program)).filter((line) => line.includes(` --comment ${owner} `));
      for (const line of lines) await this.#run([program, ...WAIT, ...line.replace(/^-A/, '-D').split(' ')]);
    }
  }

  /** Returns the chains of other programs that forwarded packets pass. Chains of iptables are left to that program. */
  async #chains(): Promise<readonly NftChain[]> {
    const { nftables } = await this.#list(['list', 'chains']);
    return nftables
      .flatMap(({ chain }) => chain ?? [])
      .filter(({ hook, table }) => hook === 'forward' && !table.startsWith(OWN_TABLES))
      .filter(({ family, table, name }) => [family, table, name].every(isName))
      .filter(({ family, table, name }) => !(/^ip6?$/.test(family) && table === 'filter' && name === 'FORWARD'));
  }

  async #list(parameters: readonly string[]): Promise<NftListing> {
    return JSON.parse(await this.#nft(['-j', ...parameters])) as NftListing;
  }

  #programs(): readonly (readonly [program: string, isOfFamily: (address: string) => boolean])[] {
    const { iptables, ip6tables } = this.options;
    return [
      ...(iptables ? [[iptables, (address: string) => !isIPv6(address)] as const] : []),
      ...(ip6tables ? [[ip6tables, isIPv6] as const] : []),
    ];
  }

  async #isClosed(program: string): Promise<boolean> {
    return (await this.#rules(program)).some((line) => line === '-P FORWARD DROP');
  }

  async #insert(program: string, owner: string, ranges: readonly string[]): Promise<void> {
    const conditions = [
      ...ranges.flatMap((range) => [
        ['-s', range],
        ['-d', range],
      ]),
      ['-m', 'conntrack', '--ctstate', 'DNAT'],
    ];
    for (const condition of conditions) {
      await this.#run([
        ...[program, ...WAIT, '-I', 'FORWARD', ...condition],
        ...['-m', 'comment', '--comment', owner, '-j', 'ACCEPT'],
      ]);
    }
  }

  /** Returns the lines of the chain; none if the program cannot list it. */
  async #rules(program: string): Promise<readonly string[]> {
    const listed = await this.#run([program, ...WAIT, '-S', 'FORWARD']).catch(() => '');
    return listed.split('\n');
  }

  #nft(parameters: readonly string[], input?: string): Promise<string> {
    return this.#run([this.options.nft, ...parameters], input);
  }

  #run(command: readonly string[], input?: string): Promise<string> {
    return runProgram([...this.options.enter, ...command], input === undefined ? {} : { input });
  }
}
