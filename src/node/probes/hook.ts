/** Performs the action of a postStart or preStop hook. */
import { sleep } from '../../base/time/clock.ts';
import type { SeenContainer } from '../pod/container-run.ts';
import { checkCommand } from '../runtime/zero-bytes.ts';
import { type CheckTarget, checkTcp, httpTarget } from './check.ts';
import { destinationOf } from './dialing.ts';
import { MAX_OUTPUT_BYTES } from './exec.ts';
import { request, requestFailure } from './http.ts';
import { portOf } from './port.ts';

type Lifecycle = NonNullable<Extract<SeenContainer, { readonly lifecycle?: unknown }>['lifecycle']>;
export type Hook = NonNullable<Lifecycle['postStart']>;

export const hookOf = (container: SeenContainer, name: 'postStart' | 'preStop'): Hook | undefined =>
  (container as { readonly lifecycle?: Lifecycle }).lifecycle?.[name];

export interface HookOptions extends CheckTarget {
  /** How long it may take. */
  readonly timeoutMs: number;
  /** Ends the wait for it. */
  readonly signal: AbortSignal;
}

/** Rejects with why it failed. */
export async function runHook(hook: Hook, options: HookOptions): Promise<void> {
  const { runtime, clock, id, container, timeoutMs, signal } = options;
  if (hook.exec) {
    const command = hook.exec.command ?? [];
    checkCommand(command);
    const { exitCode, stdout, stderr } = await runtime.run(id, { command, timeoutMs, maxBytes: MAX_OUTPUT_BYTES });
    if (exitCode === 0) return;
    const output = Buffer.concat([stdout, stderr]).toString('utf8');
    throw new Error(`command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
  }
  if (hook.httpGet) return send(hook.httpGet, options);
  if (hook.sleep) return sleep(clock, Number(hook.sleep.seconds) * 1_000, signal);
  if (hook.tcpSocket) {
    const port = portOf(hook.tcpSocket.port, container);
    const outcome = await checkTcp({ ...destinationOf(hook.tcpSocket.host, options), port }, timeoutMs, clock);
    if (outcome.type === 'failure') throw new Error(outcome.output);
    return;
  }
  throw new Error('invalid handler');
}

/** Any response will do. */
async function send(httpGet: NonNullable<Hook['httpGet']>, options: HookOptions): Promise<void> {
  const { clock, timeoutMs, signal } = options;
  const target = httpTarget(httpGet, options);
  const limit = new AbortController();
  const end = () => limit.abort();
  const timer = clock.timer(timeoutMs, end);
  signal.addEventListener('abort', end, { once: true });
  try {
    await request(target, limit.signal);
  } catch (error) {
    const why = limit.signal.aborted ? 'context deadline exceeded' : requestFailure(error as Error, target.url);
    throw new Error(`Get "${target.url}": ${why}`, { cause: error });
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', end);
  }
}
