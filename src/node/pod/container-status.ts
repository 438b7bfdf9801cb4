/** Builds the status of a container. */

import { timestamp } from '../../base/time/timestamp.ts';
import { shownRestarts } from '../../kinds/groups/core/pod/restart-counts.ts';
import { type ContainerRun, isReady, type RunState, type SeenContainer, type Termination } from './container-run.ts';
import { truncated } from './termination-message.ts';

const NO_RESOURCES = Object.freeze({});
const NO_STATE = Object.freeze({});

/** `maxBytes` limits its termination message. */
export function containerStatus(run: ContainerRun, { resources }: SeenContainer, maxBytes: number) {
  const { name, role, state, last, image, imageID } = run;
  const id = state.type === 'waiting' ? last?.id : state.id;
  const actual = run.actual ?? resources;
  const allocated = run.isResizeRefused ? actual : resources;
  return {
    name,
    state: stateOf(state, maxBytes),
    lastState: last ? { terminated: terminated(last, maxBytes) } : NO_STATE,
    ready: isReady(run),
    restartCount: shownRestarts(run.restarts),
    image,
    imageID,
    ...(id ? { containerID: id } : {}),
    ...(role === 'ephemeral' ? {} : { started: state.type === 'running' && role !== 'init' && run.started !== false }),
    ...(allocated?.requests ? { allocatedResources: allocated.requests } : {}),
    // The server knows by them that the node can resize a running container.
    ...(state.type === 'running' || actual?.requests || actual?.limits ? { resources: actual ?? NO_RESOURCES } : {}),
  };
}

function stateOf(state: RunState, maxBytes: number) {
  switch (state.type) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message ? { message: state.message } : {}) } };
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
    ...(message ? { message: truncated(message, maxBytes) } : {}),
    ...(startedAt === undefined ? {} : { startedAt: timestamp(startedAt) }),
    // A container that never ran has no times.
    ...(id === '' && startedAt === undefined ? {} : { finishedAt: timestamp(finishedAt) }),
    ...(id ? { containerID: id } : {}),
  };
}
