/** Builds the status of a container. */

import { timestamp } from '../../base/time/timestamp.ts';
import { shownRestarts } from '../../kinds/groups/core/pod/status/restart-counts.ts';
import { type ContainerRun, isReady, type RunState, type SeenContainer, type Termination } from './container-run.ts';
import { truncated } from './termination-message.ts';

const NO_RESOURCES = Object.freeze({});
const NO_STATE = Object.freeze({});

/** `maxBytes` limits its termination message. */
export function containerStatus(run: ContainerRun, { resources }: SeenContainer, maxBytes: number) {
  const { name, role, state, last, image, imageID } = run;
  const id = state.type === 'waiting' ? last?.id : state.id;
  const actual = run.actual ?? resources;
  const allocated = run.isResizeRejected ? actual : resources;
  return {
    name,
    state: stateOf(state, maxBytes),
    lastState: last ? { terminated: terminated(last, maxBytes) } : NO_STATE,
    ready: isReady(run),
    restartCount: shownRestarts(run.restarts),
    image,
    imageID,
    containerID: id || undefined,
    started: role === 'ephemeral' ? undefined : state.type === 'running' && role !== 'init' && run.started !== false,
    allocatedResources: allocated?.requests,
    // The server knows by them that the node can resize a running container.
    resources: state.type === 'running' || actual?.requests || actual?.limits ? (actual ?? NO_RESOURCES) : undefined,
  };
}

function stateOf(state: RunState, maxBytes: number) {
  switch (state.type) {
    case 'waiting':
      return { waiting: { reason: state.reason, message: state.message || undefined } };
    case 'running':
      return { running: { startedAt: timestamp(state.since) } };
    case 'ended':
      return { terminated: terminated(state, maxBytes) };
  }
}

function terminated({ exitCode, reason, message, startedAt, finishedAt, id }: Termination, maxBytes: number) {
  return {
    exitCode,
    reason,
    message: message ? truncated(message, maxBytes) : undefined,
    startedAt: startedAt === undefined ? undefined : timestamp(startedAt),
    // A container that never ran has no times.
    finishedAt: id === '' && startedAt === undefined ? undefined : timestamp(finishedAt),
    containerID: id || undefined,
  };
}
