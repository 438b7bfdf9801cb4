/** Records that the keeper has of a container, and their form in answers. */
import { join } from 'node:path';
import type { ContainerConfig, ContainerResources } from '../../runtime/container-config.ts';
import type { Container } from '../../runtime/runtime.ts';
import type { ResolvedImage } from '../wire/calls.ts';
import type { SupervisedState } from './supervisor/supervisor.ts';

/** The file `container.json`. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly createdAt: number;
  readonly config: ContainerConfig;
  readonly image: ResolvedImage;
  readonly logPath: string;
  readonly cgroup: string;
  /** Name of the executor that runs it. */
  readonly executor: string;
  /** After an update. */
  readonly resources: ContainerResources;
  /** The boot of the machine in which it was started; undefined: it was not. */
  readonly boot: string | undefined;
}

/** How the container ended, as the keeper found it: written into the file `end`. */
export interface ContainerEnd {
  readonly exitCode: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number;
  readonly reason: string;
  readonly message?: string;
}

/** Signals that a supervisor which was killed could not tell. */
const EXIT_CODE_LOST = 137;
const EXIT_CODE_AFTER_BOOT = 255;
const EXIT_CODE_CANNOT_RUN = 128;

export function endOf(
  state: SupervisedState | undefined,
  {
    isOomKilled,
    isSameBoot,
    failure,
    now,
  }: { isOomKilled: boolean; isSameBoot: boolean; failure: string | undefined; now: number },
): ContainerEnd {
  if (state?.state === 'exited') {
    const reason = isOomKilled ? 'OOMKilled' : state.exitCode === 0 ? 'Completed' : 'Error';
    return { exitCode: state.exitCode, startedAt: state.at, finishedAt: state.finishedAt, reason };
  }
  if (state?.state === 'failed')
    return {
      exitCode: EXIT_CODE_CANNOT_RUN,
      startedAt: undefined,
      finishedAt: state.at,
      reason: 'StartError',
      message: failure,
    };
  return {
    exitCode: isSameBoot ? EXIT_CODE_LOST : EXIT_CODE_AFTER_BOOT,
    startedAt: state?.at,
    finishedAt: now,
    reason: 'Unknown',
    message: isSameBoot ? 'the supervisor of the container was killed' : 'the node was restarted',
  };
}

export function containerOf(
  record: ContainerRecord,
  state: SupervisedState | undefined,
  end: ContainerEnd | undefined,
): Container {
  const { config } = record;
  return {
    id: record.id,
    sandboxId: record.sandboxId,
    name: config.name,
    attempt: config.attempt,
    state: end ? 'exited' : state?.state === 'running' || state?.state === 'exited' ? 'running' : 'created',
    createdAt: record.createdAt,
    startedAt: end ? end.startedAt : state?.at,
    finishedAt: end?.finishedAt,
    exitCode: end?.exitCode,
    reason: end?.reason,
    message: end?.message,
    image: config.image,
    imageId: config.imageId,
    labels: config.labels,
    annotations: config.annotations,
    logPath: record.logPath,
    resources: record.resources,
  };
}

export function containerDirectory(base: string, id: string): string {
  return join(base, 'containers', id);
}
