/** The faults of a run. Each leaves a majority of etcd's members connected and is undone by the function it returns. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Dice } from '../crash/random.ts';
import { AGENTS, type Program, SERVERS, type Site } from './site.ts';

export interface Fault {
  readonly text: string;
  begin(): Promise<Undo> | Undo;
}

/** Programs that have ended are started after it. */
type Undo = () => void;

const LOSS_PERCENT = 5;
const MEGABYTE = Buffer.alloc(1024 * 1024);
const NOTHING: Undo = () => undefined;

type Maker = (site: Site, machine: string) => Fault;

const kill =
  (...programs: readonly Program[]): Maker =>
  (site, machine) => ({
    text: `kill ${programs.join(' and ')} on ${machine}`,
    async begin() {
      await Promise.all(programs.map((program) => site.kill(machine, program)));
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

const fillDisk: Maker = (site, machine) => ({
  text: `fill the disk of ${machine}`,
  begin() {
    const file = join(site.disk(machine), 'filler');
    const descriptor = openSync(file, 'w');
    try {
      while (writeSync(descriptor, MEGABYTE) > 0);
    } catch {
      // Nothing is left.
    }
    closeSync(descriptor);
    return () => rmSync(file);
  },
});

const NETWORK = [isolate, silence, deafen, lose];
const OF_SERVERS = [
  kill('server'),
  kill('etcd'),
  kill('server', 'etcd'),
  pause('server'),
  pause('etcd'),
  fillDisk,
  ...NETWORK,
];
const OF_AGENTS = [kill('agent'), pause('agent'), ...NETWORK];

/** Chooses a fault of a server, of the machine that leads etcd in one of three cases, or of an agent, or one of each. */
export async function chooseFaults(site: Site, dice: Dice): Promise<readonly Fault[]> {
  const one = <T>(list: readonly T[]) => list[dice(list.length)]!;
  const kind = dice(4);
  // All dice are thrown in any case, so that a seed repeats the faults whatever etcd has decided.
  const [server, onLeader, ofServer] = [one(SERVERS), dice(3) === 0, one(OF_SERVERS)];
  const [agent, ofAgent] = [one(AGENTS), one(OF_AGENTS)];
  const atServer = () => (onLeader ? site.leader() : server);
  if (kind === 0) return [ofAgent(site, agent)];
  const faults = [ofServer(site, await atServer())];
  return kind === 1 ? [...faults, ofAgent(site, agent)] : faults;
}
