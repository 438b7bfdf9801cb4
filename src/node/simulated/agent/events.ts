/**
 * What happens to pods and nodes, told as an agent tells it. A few nodes say as much as their agents would; a fleet of them
 * says no more than one agent: ten thousand pods that start at once are not to cost thirty thousand events.
 */
import type { Clock } from '../../../base/clock.ts';
import type { EventRecorder, EventSubject, EventType } from '../../../client/events/event-recorder.ts';
import { containerOf } from '../../pod/phase.ts';
import type { Happening } from '../lifecycle/container-steps.ts';
import { imageSizeOf } from '../lifecycle/ids.ts';
import { faultOf, neverFetched, whyNot } from '../lifecycle/images.ts';
import type { Life, SimulatedRun } from '../lifecycle/life.ts';
import { inWords } from '../rules/span.ts';

/** So many may come at once from one agent, and then one more after so many milliseconds. */
const BURST = 100;
const REFILL = 20;
/** So many nodes are a few. */
const FEW = 5;

/** What a service says that does not do well. */
const PROBE_ANSWER = 'HTTP probe failed with statuscode: 503';

/** Type, reason and message. */
type Said = readonly [EventType, string, string];

export class Teller {
  readonly #clock: Clock;
  readonly #recorderOf: (node: string) => EventRecorder;
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #agents: number;
  #left: number;
  #since = 0;

  constructor(clock: Clock, nodes: number, recorderOf: (node: string) => EventRecorder) {
    this.#clock = clock;
    this.#recorderOf = recorderOf;
    this.#agents = nodes <= FEW ? nodes : 1;
    this.#left = BURST * this.#agents;
  }

  tell(life: Life, happening: Happening): void {
    const subject = 'run' in happening ? partOf(life, happening.run) : life.pod;
    for (const [type, reason, message] of wordsFor(life, happening)) {
      if (!this.#mayTell()) return;
      this.#of(life.pod.spec.nodeName ?? '').event(subject, type, reason, message);
    }
  }

  /** What has become of a node. Agents know their node by its name alone, and there some clients look for it. */
  tellOfNode({ apiVersion, kind, metadata: { name = '' } }: EventSubject, what: string): void {
    if (!this.#mayTell()) return;
    const subject = { apiVersion, kind, metadata: { name, uid: name } };
    this.#of(name).event(subject, 'Normal', what, `Node ${name} status is now: ${what}`);
  }

  async flushed(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.flushed()));
  }

  #of(node: string): EventRecorder {
    const known = this.#recorders.get(node) ?? this.#recorderOf(node);
    this.#recorders.set(node, known);
    return known;
  }

  #mayTell(): boolean {
    const now = this.#clock.now();
    this.#left = Math.min(BURST * this.#agents, this.#left + ((now - this.#since) * this.#agents) / REFILL);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

const LISTS = {
  init: 'initContainers',
  sidecar: 'initContainers',
  main: 'containers',
  ephemeral: 'ephemeralContainers',
};

function partOf({ pod: { apiVersion, kind, metadata } }: Life, { role, name }: SimulatedRun): EventSubject {
  return { apiVersion, kind, metadata, fieldPath: `spec.${LISTS[role]}{${name}}` };
}

function wordsFor(life: Life, happening: Happening): Said[] {
  if (!('run' in happening)) {
    if (happening.type === 'deadline') {
      return [['Normal', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline']];
    }
    const why = 'Failed to create pod sandbox: no address is left in the range of the node';
    return [['Warning', 'FailedCreatePodSandBox', why]];
  }
  const { run, type } = happening;
  const { name, namespace, uid } = life.pod.metadata;
  const image = containerOf(life.pod, run).image ?? run.image;
  switch (type) {
    case 'pulling':
      return [['Normal', 'Pulling', `Pulling image "${image}"`]];
    case 'pulled':
      return [['Normal', 'Pulled', pulled(image, happening.took)]];
    case 'created':
      return [['Normal', 'Created', 'Container created']];
    case 'started':
      return [['Normal', 'Started', 'Container started']];
    case 'killing':
      return [['Normal', 'Killing', `Stopping container ${run.name}`]];
    case 'changed':
      return [['Normal', 'Killing', `Container ${run.name} definition changed, will be restarted`]];
    case 'pullFailed':
      return [
        ['Warning', 'Failed', `Failed to pull image "${image}": ${whyNot(life, run)}`],
        ['Warning', 'Failed', 'Error: ErrImagePull'],
      ];
    case 'neverPulled':
      return [
        ['Warning', 'ErrImageNeverPull', neverFetched(image)],
        ['Warning', 'Failed', 'Error: ErrImageNeverPull'],
      ];
    case 'invalidImage':
      return [
        ['Warning', 'InspectFailed', faultOf(life, run) ?? ''],
        ['Warning', 'Failed', 'Error: InvalidImageName'],
      ];
    case 'pullBackOff':
      return [
        ['Normal', 'BackOff', `Back-off pulling image "${image}"`],
        ['Warning', 'Failed', 'Error: ImagePullBackOff'],
      ];
    case 'probeFailed': {
      const failed: Said = ['Warning', 'Unhealthy', `${happening.probe} probe failed: ${PROBE_ANSWER}`];
      if (happening.probe === 'Readiness') return [failed];
      const isEnd = life.pod.spec.restartPolicy === 'Never';
      const killing = `Container ${run.name} failed liveness probe${isEnd ? '' : ', will be restarted'}`;
      return [failed, ['Normal', 'Killing', killing]];
    }
    case 'backOff': {
      const pod = `${name}_${namespace}(${uid})`;
      return [['Warning', 'BackOff', `Back-off restarting failed container ${run.name} in pod ${pod}`]];
    }
  }
}

function pulled(image: string, took: number | undefined): string {
  if (took === undefined) return `Container image "${image}" already present on machine and can be accessed by the pod`;
  const time = inWords(took);
  const size = imageSizeOf(image);
  return `Successfully pulled image "${image}" in ${time} (${time} including waiting). Image size: ${size} bytes.`;
}
