/** A container as its pod's status shows it. */

import { timestamp } from '../../base/timestamp.ts';
import { shownRestarts } from '../../kinds/groups/core/pod/restart-counts.ts';
import { type ContainerRun, type Ended, isReady, type RunState, type SeenContainer } from './container-run.ts';
import { fitting } from './termination-message.ts';

const NO_STATE = Object.freeze({});

/** `room`: the bytes that a message of its end may have. */
export function containerStatus(run: ContainerRun, { resources }: SeenContainer, room: number) {
  const { name, role, state, last, image, imageID } = run;
  const id = state.type === 'waiting' ? last?.id : state.id;
  const asked = resources && (resources.requests || resources.limits) ? resources : undefined;
  return {
    name,
    state: stateOf(state, room),
    lastState: last ? { terminated: terminated(last, room) } : NO_STATE,
    ready: isReady(run),
    restartCount: shownRestarts(run.restarts),
    image,
    imageID,
    ...(id ? { containerID: id } : {}),
    ...(role === 'ephemeral' ? {} : { started: state.type === 'running' && role !== 'init' }),
    ...(asked?.requests ? { allocatedResources: asked.requests } : {}),
    ...(asked ? { resources: asked } : {}),
  };
}

function stateOf(state: RunState, room: number) {
  switch (state.type) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message ? { message: state.message } : {}) } };
    case 'running':
      return { running: { startedAt: timestamp(state.since) } };
    case 'ended':
      return { terminated: terminated(state, room) };
  }
}

function terminated({ exitCode, reason, message, startedAt, finishedAt, id }: Ended, room: number) {
  return {
    exitCode,
    reason,
    ...(message ? { message: fitting(message, room) } : {}),
    ...(startedAt === undefined ? {} : { startedAt: timestamp(startedAt) }),
    finishedAt: timestamp(finishedAt),
    ...(id ? { containerID: id } : {}),
  };
}
