/** Simulated nodes on a server in this process, with a clock that stands still; pods are bound by hand. */

import type { User } from '../../src/api/user.ts';
import { type LogFields, silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ControlledClock } from '../../src/base/time/clock.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { nodeUser, SIMULATED_NODES } from '../../src/client/component-users.ts';
import { directTransport } from '../../src/client/transport/direct-transport.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { markLeftOutNodes } from '../../src/node/simulated/left-out.ts';
import { readRules } from '../../src/node/simulated/rules/read-rules.ts';
import { type SimulatedNodes, startSimulatedNodes } from '../../src/node/simulated/simulated.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import { namespaceLifecycle } from '../../src/server/operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { nodeRestriction } from '../../src/server/operations/admission/plugins/node-restriction/restriction.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };

export interface SimulatedCluster {
  readonly server: Server;
  readonly client: Client;
  readonly clock: ControlledClock;
  readonly nodes: SimulatedNodes;
  readonly complaints: LogFields[];
  /** Ends the nodes and starts them anew, as after a crash of the program: all of them, or these. */
  restart(names?: readonly string[]): Promise<void>;
  /** Makes a pod that is bound to the first node. */
  run(name: string, fields?: { spec?: object; metadata?: object }): Promise<void>;
  pod(name: string): Promise<any>;
  /** Moves time on, in small steps until the condition holds. */
  until(name: string, condition: (pod: any) => boolean): Promise<any>;
  stop(): Promise<void>;
}

export async function simulatedCluster({
  names = ['n1', 'n2'],
  rules = {} as unknown,
} = {}): Promise<SimulatedCluster> {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const server = await createServer({
    ...{ store, kinds: allKinds, clock, freeze: true, admission: [namespaceLifecycle, nodeRestriction] },
    ...{ authorization: ['Node', 'RBAC'], defaultRoles: true },
  });
  const clientFor = (user: User) => createClient(directTransport(server.direct(user)));
  const client = clientFor(ADMIN);
  const complaints: LogFields[] = [];
  const complain = (message: string, fields: LogFields = {}) => void complaints.push({ message, ...fields });
  const log = { ...silent, with: () => log, warn: complain, error: complain };
  const clients = { client: clientFor(SIMULATED_NODES), clientOf: (node: string) => clientFor(nodeUser(node)) };
  const start = (started: readonly string[]) =>
    startSimulatedNodes({
      ...{ ...clients, clock, random: systemRandom, log, names: started },
      ...{ clusterCidr: '10.244.0.0/16', version: 'v1.36.4', rules: readRules(rules) },
    });
  let nodes = await start(names);
  const pods = client.of(Pod).in('default');
  return {
    ...{ server, client, clock, complaints },
    get nodes() {
      return nodes;
    },
    async restart(started = names) {
      await nodes.stop();
      await markLeftOutNodes({ ...clients, clock, names: started });
      nodes = await start(started);
    },
    async run(name, { spec = {}, metadata = {} } = {}) {
      const containers = [{ name: 'c', image: 'nginx:1.27' }];
      await pods.create({
        metadata: { name, namespace: 'default', ...metadata },
        spec: { nodeName: names[0], containers, ...spec },
      } as any);
    },
    pod: (name) => pods.get(name),
    async until(name, condition) {
      for (let tries = 0; tries < 4_000; tries++) {
        const pod = await pods.get(name);
        if (condition(pod)) return pod;
        await clock.advance(tries < 200 ? 20 : 1_000);
      }
      throw new Error(`it did not happen: ${JSON.stringify((await pods.get(name)).status, undefined, 1)}`);
    },
    async stop() {
      await nodes.stop();
      server.close();
      await store.close();
    },
  };
}
