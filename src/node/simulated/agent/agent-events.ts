/**
 * Records the events of kubelets. A few nodes get a budget each; a larger fleet shares the budget of one, so that ten
 * thousand pods that start together do not write thirty thousand events.
 */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { EventRecorder, EventSubject, EventType } from '../../../client/events/event-recorder.ts';
import { eventSubject } from '../../agent/worker/events.ts';
import { formatDuration } from '../../pod/duration.ts';
import { containerOf } from '../../pod/phase.ts';
import type { LifecycleEvent } from '../lifecycle/context.ts';
import { imageSizeOf } from '../lifecycle/ids.ts';
import { invalidImageMessage, neverPullMessage, pullError } from '../lifecycle/images.ts';
import type { PodLife } from '../lifecycle/pod-life.ts';

/** Token bucket of a kubelet: its size, and the milliseconds until the next token. */
const EVENT_BURST = 100;
const EVENT_REFILL_MS = 20;
const MAX_NODES_WITH_OWN_BUDGET = 5;

/** The output of a failing probe. */
const PROBE_OUTPUT = 'HTTP probe failed with statuscode: 503';

/** Type, reason and message. */
type EventContent = readonly [EventType, string, string];

export class AgentEvents {
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #agents: number;
  #left: number;
  #since = 0;

  constructor(
    private readonly clock: Clock,
    nodes: number,
    private readonly recorderOf: (node: string) => EventRecorder,
  ) {
    this.#agents = nodes <= MAX_NODES_WITH_OWN_BUDGET ? nodes : 1;
    this.#left = EVENT_BURST * this.#agents;
  }

  podEvent(life: PodLife, event: LifecycleEvent): void {
    // Nothing is formatted in vain: a pod may have thousands of containers.
    if (this.#refill() < 1) return;
    const container = 'run' in event ? event.run : event.type === 'planned' ? event.event.container : undefined;
    const subject = eventSubject(life.pod, container);
    for (const [type, reason, message] of contentOf(life, event)) {
      if (!this.#isAllowed()) return;
      this.#of(life.pod.spec.nodeName ?? '').event(subject, type, reason, message);
    }
  }

  /** Kubelets use the node's name as its UID in events, and some clients look for that. */
  nodeEvent({ apiVersion, kind, metadata: { name = '' } }: EventSubject, reason: string): void {
    if (!this.#isAllowed()) return;
    const subject = { apiVersion, kind, metadata: { name, uid: name } };
    this.#of(name).event(subject, 'Normal', reason, `Node ${name} status is now: ${reason}`);
  }

  async flushed(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.flushed()));
  }

  #of(node: string): EventRecorder {
    return getOrInsert(this.#recorders, node, () => this.recorderOf(node));
  }

  #isAllowed(): boolean {
    if (this.#refill() < 1) return false;
    this.#left--;
    return true;
  }

  /** Returns how many events may be recorded now. */
  #refill(): number {
    const now = this.clock.now();
    this.#left = Math.min(
      EVENT_BURST * this.#agents,
      this.#left + ((now - this.#since) * this.#agents) / EVENT_REFILL_MS,
    );
    this.#since = now;
    return this.#left;
  }
}

function contentOf(life: PodLife, event: LifecycleEvent): EventContent[] {
  if (event.type === 'planned') return [[event.event.type, event.event.reason, event.event.message]];
  if (event.type === 'noAddress') {
    const why = 'Failed to create pod sandbox: no address is left in the range of the node';
    return [['Warning', 'FailedCreatePodSandBox', why]];
  }
  const { run, type } = event;
  const image = containerOf(life.pod, run).image ?? run.image;
  switch (type) {
    case 'pulling':
      return [['Normal', 'Pulling', `Pulling image "${image}"`]];
    case 'pulled':
      return [['Normal', 'Pulled', pulled(image, event.took)]];
    case 'created':
      return [['Normal', 'Created', 'Container created']];
    case 'started':
      return [['Normal', 'Started', 'Container started']];
    case 'pullFailed':
      return [
        ['Warning', 'Failed', `Failed to pull image "${image}": ${pullError(life, run)}`],
        ['Warning', 'Failed', 'Error: ErrImagePull'],
      ];
    case 'neverPulled':
      return [
        ['Warning', 'ErrImageNeverPull', neverPullMessage(image)],
        ['Warning', 'Failed', 'Error: ErrImageNeverPull'],
      ];
    case 'invalidImage':
      return [
        ['Warning', 'InspectFailed', invalidImageMessage(life, run) ?? ''],
        ['Warning', 'Failed', 'Error: InvalidImageName'],
      ];
    case 'probeFailed':
      return [['Warning', 'Unhealthy', `${event.probe} probe failed: ${PROBE_OUTPUT}`]];
  }
}

function pulled(image: string, took: number | undefined): string {
  if (took === undefined) return `Container image "${image}" already present on machine and can be accessed by the pod`;
  const time = formatDuration(took);
  const size = imageSizeOf(image);
  return `Successfully pulled image "${image}" in ${time} (${time} including waiting). Image size: ${size} bytes.`;
}
