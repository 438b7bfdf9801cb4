/** Creates and deletes pods, and follows them in a watch. */
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { get, post, remove } from '../http.ts';
import type { Target } from '../load.ts';

export const PODS = '/api/v1/namespaces/default/pods';

/** Watch event of a pod. */
interface PodEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly status: {
      readonly podIP?: string;
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
      readonly containerStatuses?: readonly { readonly containerID?: string }[];
    };
  };
}

export interface ReadyPod {
  readonly name: string;
  readonly uid: string;
  readonly podIP: string;
  readonly containerId: string;
}

const TIMEOUT_MS = 120_000;
const LOOK_MS = 5;

export class PodApi {
  readonly #target: Target;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  constructor(target: Target) {
    this.#target = target;
  }

  async isNodeReady(): Promise<boolean> {
    const { items } = JSON.parse((await get(this.#target, '/api/v1/nodes', this.#agent)).toString());
    const isTrue = ({ type, status }: { type: string; status: string }) => type === 'Ready' && status === 'True';
    return items.some(({ status }: any) => status.conditions?.some(isTrue));
  }

  /** Creates pods of one container. Resolves when the last of them is Ready, or rejects after a while. */
  async run(
    names: readonly string[],
    container: object,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<{ pods: ReadyPod[]; milliseconds: number }> {
    const ready = new Map<string, ReadyPod>();
    const { seen } = await this.#watch(({ object: { metadata, status } }) => {
      if (!status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return false;
      const containerId = (status.containerStatuses?.[0]?.containerID ?? '').replace(/^.*:\/\//, '');
      ready.set(metadata.name, { ...metadata, podIP: status.podIP ?? '', containerId });
      return names.every((name) => ready.has(name));
    });
    const began = performance.now();
    const body = (name: string) => JSON.stringify({ metadata: { name, labels }, spec: podSpec(container) });
    await Promise.all(names.map((name) => post(this.#target, PODS, body(name), this.#agent)));
    await seen;
    return { pods: names.map((name) => ready.get(name)!), milliseconds: performance.now() - began };
  }

  /** Deletes a pod at once. `isGone` tells whether anything of it is left on the node. */
  async kill(name: string, isGone: () => Promise<boolean>): Promise<number> {
    const { seen } = await this.#watch(({ type, object }) => type === 'DELETED' && object.metadata.name === name);
    const began = performance.now();
    await remove(this.#target, `${PODS}/${name}?gracePeriodSeconds=0`, this.#agent);
    await seen;
    while (!(await isGone())) {
      if (performance.now() - began > TIMEOUT_MS) throw new Error(`${name} still runs`);
      await pause(LOOK_MS);
    }
    return performance.now() - began;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Begins a watch; `seen` resolves at the event that is wanted. */
  #watch(isWanted: (event: PodEvent) => boolean): Promise<{ readonly seen: Promise<void> }> {
    const { origin, token } = this.#target;
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const options = { headers, rejectUnauthorized: false, agent: false as const };
      const sent = request(`${origin}${PODS}?watch=true`, options, (response) => {
        const seen = new Promise<void>((done, fail) => {
          const timer = setTimeout(() => sent.destroy(new Error('what was waited for did not happen')), TIMEOUT_MS);
          sent.on('error', fail);
          let rest = '';
          response.on('error', fail).on('data', (chunk: Buffer) => {
            const lines = (rest + chunk).split('\n');
            rest = lines.pop()!;
            for (const line of lines) {
              if (!isWanted(JSON.parse(line))) continue;
              clearTimeout(timer);
              done();
              sent.destroy();
            }
          });
        });
        seen.catch(() => undefined);
        resolve({ seen });
      });
      sent.on('error', reject).end();
    });
  }
}

function podSpec(container: object) {
  return { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', ...container }] };
}
