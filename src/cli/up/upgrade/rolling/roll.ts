/** `qd upgrade FILE --all`: takes the machines of a cluster to a release, one after the other. */
import { type MachineReport, UPGRADE_PATH } from '../../../../api/machine-upgrade.ts';
import { type Clock, sleep, systemClock } from '../../../../base/time/clock.ts';
import { connectionFor } from '../../../clusters/choice.ts';
import { withReadyServer } from '../../../flags/reach/ready-server.ts';
import { CliError, explain } from '../../../output/cli-error.ts';
import { table } from '../../../output/table.ts';
import type { UpgradeFlags } from '../flags.ts';
import { Rejected } from './ask.ts';
import { findMachines, type Machine, type Machines } from './machines.ts';
import { type PackageFile, readPackageFile } from './package-file.ts';
import { type Plan, planRoll } from './plan.ts';
import { upgradeMachine } from './upgrade-machine.ts';

/** For all servers to be ready, with their etcd, after one of them was upgraded. */
const SERVERS_READY_TIMEOUT_MS = 120_000;
const CHECK_MS = 500;

/** The row of a machine in the table at the end. */
interface MachineOutcome {
  readonly release: string;
  readonly text: string;
}

export async function upgradeAll(path: string, flags: UpgradeFlags): Promise<void> {
  const file = await readPackageFile(path);
  const { version } = file.release;
  const connection = await withReadyServer(await connectionFor(flags));
  if (!connection.server.startsWith('https:')) {
    throw new CliError(`${connection.server} does not say who you are: --all needs the https address of a server`);
  }
  if (connection.insecureSkipTlsVerify) {
    throw new CliError('--all needs a kubeconfig with the authority of the cluster, to tell its servers from others');
  }
  const machines = await findMachines(connection);
  const plan = planRoll(machines.all, { release: file.release, leader: machines.leader, parallel: flags.parallel });
  if (plan.problems.length > 0) throw new CliError(`${plan.problems.join('; ')}. Nothing was changed`);
  await serversReady(machines, { clock: systemClock, timeoutMs: 0 }).catch((cause: Error) => {
    throw new CliError(`${cause.message}. Nothing was changed`, { cause });
  });
  say(`Package ${file.sha256.slice(0, 16)}, release ${version}.`);
  const outcomes = new Map<Machine, MachineOutcome>(
    machines.all.map((each) => [each, { release: each.version ?? '<unknown>', text: before(each, plan) }]),
  );
  const failed = await performSteps(plan, { file, machines, outcomes, flags });
  say('');
  for (const line of table([HEADER, ...machines.all.map((each) => row(each, outcomes.get(each)!))])) say(line);
  if (failed !== undefined) {
    throw new CliError(
      `${failed}. The machines after it were not touched. Run the same command again when the reason is gone: it goes on with those that do not run ${version}. To go back, run qd upgrade --all with the package of the earlier release`,
    );
  }
  if (plan.leftOut.length === 0) return;
  const names = plan.leftOut.map(({ name }) => name).join(', ');
  throw new CliError(`not all machines run ${version}: ${names}; run the same command again when they can be upgraded`);
}

const HEADER = ['MACHINE', 'RELEASE', 'UPGRADE'];

const row = ({ kind, name, hostname }: Machine, { release, text }: MachineOutcome): string[] => [
  `${kind} ${name}${hostname === undefined ? '' : ` (${hostname})`}`,
  release,
  text,
];

function before(machine: Machine, { done, leftOut }: Plan<Machine>): string {
  if (done.includes(machine)) return 'not needed';
  return leftOut.includes(machine) ? `left out: ${machine.obstacle}` : 'not begun';
}

interface Rolling {
  readonly file: PackageFile;
  readonly machines: Machines;
  readonly outcomes: Map<Machine, MachineOutcome>;
  readonly flags: UpgradeFlags;
}

/** Resolves with what has failed; undefined: nothing. */
async function performSteps(plan: Plan<Machine>, rolling: Rolling): Promise<string | undefined> {
  for (const step of plan.steps) {
    const failures = await Promise.all(step.map((each) => upgradeOne(each, rolling)));
    const failed = failures.filter((each) => each !== undefined);
    if (failed.length > 0) return failed.join('; ');
    if (step.some(({ kind }) => kind === 'agent')) continue;
    try {
      await serversReady(rolling.machines, { clock: systemClock, timeoutMs: SERVERS_READY_TIMEOUT_MS });
    } catch (error) {
      return explain(error);
    }
  }
  return undefined;
}

/** Resolves with the failure. */
async function upgradeOne(machine: Machine, { file, outcomes, flags }: Rolling): Promise<string | undefined> {
  const { kind, name, ask, version = '<unknown>' } = machine;
  const { version: next } = file.release;
  say(`Upgrading ${kind} ${name} from ${version} to ${next}.`);
  outcomes.set(machine, { release: version, text: 'begun' });
  try {
    await upgradeMachine(ask, { file, clock: systemClock, timeoutMs: flags.machineTimeout });
    outcomes.set(machine, { release: next, text: 'done' });
    say(`${capitalized(kind)} ${name} runs ${next}, and is ready.`);
    return undefined;
  } catch (error) {
    const reason = explain(error);
    const release = await runningOn(machine);
    outcomes.set(machine, { release, text: `failed: ${reason}` });
    return `${kind} ${name}: ${reason}`;
  }
}

async function runningOn({ ask }: Machine): Promise<string> {
  try {
    const { version } = (await ask({ method: 'GET', path: UPGRADE_PATH })) as { version?: unknown };
    return String(version);
  } catch {
    return '<no answer>';
  }
}

interface WaitOptions {
  readonly clock: Clock;
  /** 0: they are asked once. */
  readonly timeoutMs: number;
}

/** Rejects with the servers that are not ready, and with members of etcd that do not answer: the next server may be needed. */
async function serversReady({ servers }: Machines, { clock, timeoutMs }: WaitOptions): Promise<void> {
  for (const deadline = clock.now() + timeoutMs; ; await sleep(clock, CHECK_MS)) {
    const asked = await Promise.all(
      servers.map(({ name, ask }) =>
        serverProblem(ask).then((problem) => (problem === undefined ? [] : [`server ${name}: ${problem}`])),
      ),
    );
    const problems = asked.flat();
    if (problems.length === 0) return;
    if (clock.now() >= deadline) throw new CliError(problems.join('; '));
  }
}

/** A server whose release cannot say anything about etcd says nothing against it. */
async function serverProblem(ask: Machine['ask']): Promise<string | undefined> {
  try {
    await ask({ method: 'GET', path: '/readyz' });
  } catch (error) {
    return `it is not ready: ${problemOf(error)}`;
  }
  const report = await ask({ method: 'GET', path: UPGRADE_PATH }).catch(() => ({}));
  return (report as Partial<MachineReport>).obstacle;
}

const problemOf = (error: unknown) => (error instanceof Rejected ? `${error.code} ${error.message}` : explain(error));
const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
