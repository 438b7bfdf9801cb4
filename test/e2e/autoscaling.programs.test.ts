/** Load and autoscalers as people see them with kubectl: top, autoscale, get and describe. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, type Kubectl, kubectls } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

/** Usage rules: all pods of an application that is called busy use 240m of a processor together. */
const RULES = `
pods:
  - match: { labels: load=busy }
    stages: { usage: { cpu: 240m, memory: 48Mi, shared: true } }
`;

const labels = { app: 'web', load: 'busy' };
const resources = { requests: { cpu: '100m', memory: '64Mi' } };
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx', resources }] } },
  },
};
/** An autoscaler looks every 15 seconds, and does not believe pods that have just started. */
const SETTLE_TIMEOUT_MS = 60_000;

let qd: Qd;
let folder: string;

/** Runs a kubectl in its own namespace. */
async function run({ name, program }: Kubectl, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--kubeconfig', qd.kubeconfig, '-n', name, ...args]);
  return stdout.trim();
}

async function prepare(kubectl: Kubectl): Promise<string> {
  await run(kubectl, 'create', 'namespace', kubectl.name);
  await run(kubectl, 'apply', '-f', join(folder, 'web.json'));
  await run(kubectl, 'rollout', 'status', 'deployment/web', '--timeout=30s');
  return run(kubectl, 'autoscale', 'deployment', 'web', '--min=2', '--max=9', '--cpu-percent=60');
}

describe.skipIf(!hasKubectl)('with simulated nodes', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'qd-rules-'));
    await writeFile(join(folder, 'rules.yaml'), RULES);
    await writeFile(join(folder, 'web.json'), JSON.stringify(DEPLOYMENT));
    const flags = ['--runtime', 'simulated', '--nodes', '2', '--store', 'memory'];
    qd = await startQd({ flags: [...flags, '--simulation', join(folder, 'rules.yaml')] });
    // At the same time, so that they wait together.
    for (const said of await Promise.all(kubectls.map(prepare))) expect(said).toMatch(/autoscaled$/);
  });
  afterAll(async () => {
    await qd.stop();
    await rm(folder, { recursive: true });
  });

  describe.each(kubectls)('the $name kubectl', (program) => {
    const kubectl = (...args: string[]) => run(program, ...args);
    const lines = async (...args: string[]) => (await kubectl(...args)).split('\n');

    test('shows what nodes and pods use', async () => {
      const [head, ...nodes] = await lines('top', 'nodes');
      expect(head).toMatch(/^NAME +CPU\(cores\) +CPU(%|\(%\)) +MEMORY\(bytes\) +MEMORY(%|\(%\))/);
      expect(nodes).toHaveLength(2);
      expect(nodes[0]).toMatch(/^quarterdeck-node-1 +\d+m +\d+% +\d+Mi +\d+%/);
      const [pod = ''] = await lines('top', 'pods', '-l', 'app=web', '--no-headers');
      expect(pod).toMatch(/^web-\S+ +(120|60)m +(24|12)Mi/);
      const [, row] = await lines('top', 'pod', pod.split(' ')[0] ?? '', '--containers');
      expect(row).toMatch(/^web-\S+ +nginx +(120|60)m +(24|12)Mi/);
      const raw = await kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes/quarterdeck-node-2');
      expect(JSON.parse(raw)).toMatchObject({ kind: 'NodeMetrics', usage: { cpu: expect.any(String) } });
      const [columns] = await lines('get', 'podmetrics');
      expect(columns).toMatch(/^NAME +CPU +MEMORY +WINDOW/);
    });

    test(
      'scales by the load, and tells how',
      async () => {
        await expect
          .poll(() => kubectl('get', 'hpa', 'web', '--no-headers'), { timeout: SETTLE_TIMEOUT_MS, interval: 1_000 })
          .toMatch(/^web +Deployment\/web +(cpu: )?60%\/60% +2 +9 +4 /);
        const described = await kubectl('describe', 'hpa', 'web');
        expect(described).toMatch(/Deployment pods: +4 current \/ 4 desired/);
        expect(described).toMatch(
          /Normal +SuccessfulRescale .* horizontal-pod-autoscaler +New size: 4; reason: cpu resource utilization/,
        );
        // An older one asks for the first version, which has conditions in annotations.
        if (!program.isNewest) return;
        expect(described).toMatch(/resource cpu on pods +\(as a percentage of request\): +60% \(60m\) \/ 60%/);
        expect(described).toMatch(/AbleToScale +True +ReadyForNewScale +recommended size matches current size/);
        expect(described).toMatch(/ScalingActive +True +ValidMetricFound +the HPA was able to successfully calculate/);
        expect(described).toMatch(/ScalingLimited +False +DesiredWithinRange/);
      },
      SETTLE_TIMEOUT_MS,
    );
  });
});
