/** The faults of a run. Each leaves a majority of etcd's members connected and is undone by the function it returns. */
import type { Dice } from '../crash/random.ts';
import { canJump } from './clocks.ts';
import { canSlowDown } from './disks.ts';
import { AGENTS, type Program, SERVERS, type Site } from './site.ts';

export interface Fault {
  readonly text: string;
  begin(): Promise<Undo> | Undo;
}

/** Programs that have ended are started after it. */
type Undo = () => void;

const LOSS_PERCENT = 5;
const HOUR_S = 3_600;
const NOTHING: Undo = () => undefined;

type Maker = (site: Site, machine: string) => Fault;

const kill =
  (...programs: readonly Program[]): Maker =>
  (site, machine) => ({
    text: `kill ${programs.join(' and ')} on ${machine}`,
    async begin() {
      // A server comes first: it would start its etcd again.
      for (const program of programs) await site.kill(machine, program);
      return NOTHING;
    },
  });

const pause =
  (program: Program): Maker =>
  (site, machine) => ({
    text: `pause ${program} on ${machine}`,
    begin() {
      site.signal(machine, program, 'SIGSTOP');
      return () => site.signal(machine, program, 'SIGCONT');
    },
  });

const isolate: Maker = ({ machines }, machine) => ({
  text: `isolate ${machine}`,
  begin: () => machines.drop({ from: machine }, { to: machine }),
});

const silence: Maker = ({ machines }, machine) => ({
  text: `drop what ${machine} sends`,
  begin: () => machines.drop({ from: machine }),
});

const deafen: Maker = ({ machines }, machine) => ({
  text: `drop what ${machine} is sent`,
  begin: () => machines.drop({ to: machine }),
});

const lose: Maker = ({ machines }, machine) => ({
  text: `lose ${LOSS_PERCENT} % of the packets of ${machine}`,
  begin: () => machines.drop({ from: machine, percent: LOSS_PERCENT }, { to: machine, percent: LOSS_PERCENT }),
});

const narrow: Maker = ({ machines }, machine) => ({
  text: `narrow the wire of ${machine}`,
  begin: () => machines.narrow(machine),
});

const fillDisk: Maker = (site, machine) => ({
  text: `fill the disk of ${machine}`,
  begin: () => site.disk(machine).fill(),
});

const slowDisk: Maker = (site, machine) => ({
  text: `slow down the disk of ${machine}`,
  begin: () => site.disk(machine).slow(),
});

const jump =
  (seconds: number): Maker =>
  (site, machine) => ({
    text: `put the clock of ${machine} ${seconds < 0 ? 'back' : 'forward'} by ${Math.abs(seconds)} s`,
    begin: () => site.clock(machine).jump(seconds),
  });

const NETWORK = [isolate, silence, deafen, lose, narrow];
const CLOCKS = canJump ? [jump(HOUR_S), jump(-HOUR_S)] : [];
const OF_SERVERS = [
  kill('server'),
  kill('etcd'),
  kill('server', 'etcd'),
  pause('server'),
  pause('etcd'),
  fillDisk,
  ...(canSlowDown ? [slowDisk] : []),
  ...NETWORK,
  ...CLOCKS,
];
const OF_AGENTS = [kill('agent'), pause('agent'), ...NETWORK, ...CLOCKS];

/** Faults that this machine cannot make, and what they need. */
export const missingFaults: readonly string[] = [
  ...(canJump ? [] : ['clocks that jump need libfaketime']),
  ...(canSlowDown ? [] : ['slow disks need version 1 of cgroups']),
];

/** Chooses faults by seed. */
export class Chooser {
  readonly #site: Site;
  readonly #dice: Dice;
  readonly #ofServers: readonly Maker[];
  readonly #ofAgents: readonly Maker[];

  /** `only` are parts of the texts of faults; without any, all are chosen from. */
  constructor(site: Site, dice: Dice, only: readonly string[]) {
    const isWanted = (maker: Maker) => only.length === 0 || only.some((part) => maker(site, '').text.includes(part));
    this.#site = site;
    this.#dice = dice;
    this.#ofServers = OF_SERVERS.filter(isWanted);
    this.#ofAgents = OF_AGENTS.filter(isWanted);
    if (this.#ofServers.length === 0 && this.#ofAgents.length === 0)
      throw new Error(`no fault is called ${only.join(' or ')}`);
  }

  /** A fault of a server, of the machine that leads etcd in one of three cases, or of an agent, or one of each. */
  async next(): Promise<readonly Fault[]> {
    const one = <T>(list: readonly T[]) => list[this.#dice(Math.max(list.length, 1))];
    const kind = this.#dice(4);
    // All dice are thrown in any case, so that a seed repeats the faults whatever etcd has decided.
    const [server, onLeader, ofServer] = [one(SERVERS)!, this.#dice(3) === 0, one(this.#ofServers)];
    const [agent, ofAgent] = [one(AGENTS)!, one(this.#ofAgents)];
    const atAgent = ofAgent?.(this.#site, agent);
    if (atAgent && (kind === 0 || !ofServer)) return [atAgent];
    const atServer = ofServer!(this.#site, onLeader ? await this.#site.leader() : server);
    return atAgent && kind === 1 ? [atServer, atAgent] : [atServer];
  }
}
