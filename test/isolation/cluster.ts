/** Pods of the built program that attack their node: here the API and the node agent protect it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newDirectory, type Qd, runQd, startQd } from '../e2e/program.ts';

interface ClusterOptions {
  readonly runtime: 'process' | 'containerd';
  readonly clusterCidr: string;
  readonly serviceCidr: string;
  readonly image: string;
  /** Puts the image onto the node, whose directory is given. */
  prepare?(directory: string): Promise<void>;
}

export interface AttackerPod {
  readonly name: string;
  readonly script?: string;
  readonly spec?: object;
  readonly container?: object;
  readonly namespace?: string;
}

export class AttackedCluster {
  private constructor(
    readonly qd: Qd,
    readonly directory: string,
    readonly image: string,
  ) {}

  static async start({ runtime, clusterCidr, serviceCidr, image, prepare }: ClusterOptions): Promise<AttackedCluster> {
    const directory = await newDirectory();
    const ranges = ['--cluster-cidr', clusterCidr, '--service-cluster-ip-range', serviceCidr];
    const qd = await startQd({ directory, flags: ['--nodes', '1', '--runtime', runtime, ...ranges] });
    const cluster = new AttackedCluster(qd, directory, image);
    await qd.until('/api/v1/nodes', ({ status }) =>
      status.conditions?.some(({ type, status: is }: any) => type === 'Ready' && is === 'True'),
    );
    await prepare?.(join(directory, 'data', 'nodes', 'quarterdeck-node-1'));
    return cluster;
  }

  async stop(): Promise<void> {
    await this.qd.stop('SIGTERM');
    await runQd(['reset', '--yes', '--data-dir', this.data], { env: { HOME: this.directory } });
    await rm(this.directory, { recursive: true, force: true });
  }

  /** The data directory of the cluster. */
  get data(): string {
    return join(this.directory, 'data');
  }

  pods(namespace = 'default'): string {
    return `/api/v1/namespaces/${namespace}/pods`;
  }

  create({ name, script = 'true', spec = {}, container = {}, namespace }: AttackerPod) {
    const main = { name: 'main', image: this.image, command: ['sh', '-c', script], ...container };
    const body = {
      metadata: { name },
      spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [main], ...spec },
    };
    return this.qd.request('POST', this.pods(namespace), { body });
  }

  /** Runs a pod to its end and returns its log, or the reason why it does not start. */
  async outcome(pod: AttackerPod): Promise<{ readonly log?: string; readonly rejected?: string }> {
    const { code, body } = await this.create(pod);
    if (code >= 400) return { rejected: body.message };
    const ended = await this.qd.until(this.pods(pod.namespace), (each) => {
      if (each.metadata.name !== pod.name) return false;
      return ['Succeeded', 'Failed'].includes(each.status.phase) || whyWaiting(each) !== undefined;
    });
    const why = whyWaiting(ended) ?? startError(ended);
    if (why !== undefined) return { rejected: why };
    return { log: (await this.qd.request('GET', `${this.pods(pod.namespace)}/${pod.name}/log`)).text.trim() };
  }
}

/** What keeps a container from starting for good, in words. */
function whyWaiting({ status }: any): string | undefined {
  const states = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(
    ({ state }) => state,
  );
  const waiting = states.find(({ waiting: each }) => each && /Error|Backoff|BackOff/.test(each.reason))?.waiting;
  return waiting && `${waiting.reason}: ${waiting.message}`;
}

function startError({ status }: any): string | undefined {
  const ended = (status.containerStatuses ?? []).map(({ state }: any) => state.terminated);
  const failed = ended.find((each: any) => /^(StartError|ContainerCannotRun)$/.test(each?.reason));
  return failed && `${failed.reason}: ${failed.message}`;
}
