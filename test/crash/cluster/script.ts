/** Creates, changes and deletes random objects in a cluster, and records what must exist afterwards. */
import type { Dice } from '../random.ts';
import { type ExpectedObject, type ExpectedObjects, keyOf, type Sized } from './expected-objects.ts';
import type { Survivor } from './survivor.ts';

/** Namespace of objects that stay until the script deletes them. */
const HOME = 'home';

const PATHS = {
  deployments: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  services: '/api/v1',
  pods: '/api/v1',
  configmaps: '/api/v1',
  resourcequotas: '/api/v1',
} as const;
type Plural = keyof typeof PATHS;

export const SORTS = ['deployment', 'set', 'job', 'namespace'] as const;
type Sort = (typeof SORTS)[number];

export class Script {
  #count = 0;

  constructor(
    readonly survivor: Survivor,
    readonly expected: ExpectedObjects,
    readonly next: Dice,
  ) {}

  /** Creates the initial objects: a namespace, a quota that counts, and unrelated pods. */
  async prepare(): Promise<void> {
    await this.#namespace(HOME);
    await this.#create('resourcequotas', {
      metadata: { name: 'all', namespace: HOME },
      spec: { hard: { pods: '9999' } },
    });
    const owner = await this.#create('configmaps', { metadata: { name: 'holder', namespace: HOME } });
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'holder', uid, controller: true }];
    this.expected.bystanders = await Promise.all(
      ['d0', 's0', 'e0'].map(async (app) => {
        const metadata = { name: `bystander-${app}`, namespace: HOME, labels: { app }, ownerReferences };
        const pod = await this.#create('pods', { metadata, spec: podSpec('bystander') });
        return { namespace: HOME, name: pod.metadata.name, uid: pod.metadata.uid };
      }),
    );
  }

  /** Performs one random change. Changes of different sorts can run at once. */
  async step(sort: Sort): Promise<void> {
    switch (sort) {
      case 'deployment':
        return this.#sized('deployments', this.expected.deployments, `d${this.next(3)}`);
      case 'set':
        if (this.next(3) === 0) return this.#daemonSet(`e${this.next(2)}`);
        return this.#sized('statefulsets', this.expected.statefulSets, `s${this.next(2)}`);
      case 'job':
        return this.#job();
      case 'namespace':
        return this.#passing();
    }
  }

  /** Creates a new set; gives an existing one another template or size, or deletes it. */
  async #sized(plural: Plural, expected: Map<string, Sized>, name: string): Promise<void> {
    const known = expected.get(keyOf({ namespace: HOME, name }));
    const wanted = { namespace: HOME, name, image: this.#image(), replicas: this.next(7) };
    if (!known) {
      await this.#make(plural, wanted);
      expected.set(keyOf(wanted), wanted);
    } else if (this.next(5) === 0) {
      await this.#remove(plural, known);
      expected.delete(keyOf(known));
    } else {
      const changed = this.next(2) === 0 ? { ...known, image: wanted.image } : { ...known, replicas: wanted.replicas };
      const { replicas, image } = changed;
      await this.#patch(plural, known, { replicas, template: { spec: podSpec(image) } });
      expected.set(keyOf(changed), changed);
    }
  }

  async #daemonSet(name: string): Promise<void> {
    const { daemonSets } = this.expected;
    const wanted = { namespace: HOME, name, image: this.#image() };
    const known = daemonSets.get(keyOf(wanted));
    if (known && this.next(4) === 0) {
      await this.#remove('daemonsets', known);
      daemonSets.delete(keyOf(known));
      return;
    }
    if (known) await this.#patch('daemonsets', known, { template: { spec: podSpec(wanted.image) } });
    else await this.#make('daemonsets', wanted);
    daemonSets.set(keyOf(wanted), wanted);
  }

  async #job(): Promise<void> {
    const { jobs } = this.expected;
    const [known] = [...jobs.values()];
    if (known && jobs.size > 3) {
      await this.#remove('jobs', known);
      jobs.delete(keyOf(known));
      return;
    }
    const completions = 1 + this.next(12);
    const wanted = { namespace: HOME, name: `j${++this.#count}`, image: this.#image(), completions };
    const template = { spec: { ...podSpec(wanted.image), restartPolicy: 'Never' } };
    const metadata = { name: wanted.name, namespace: HOME };
    await this.#create('jobs', { metadata, spec: { completions, parallelism: 1 + this.next(5), template } });
    jobs.set(keyOf(wanted), wanted);
  }

  /** A namespace with something in it, which goes again with all that is in it. */
  async #passing(): Promise<void> {
    const [known] = [...this.expected.namespaces].filter((each) => each !== HOME);
    if (known) {
      await this.#gone('DELETE', `/api/v1/namespaces/${known}`);
      this.expected.dropNamespace(known);
      return;
    }
    const namespace = `passing-${++this.#count}`;
    await this.#namespace(namespace);
    const wanted = { namespace, name: 'd', image: this.#image(), replicas: 1 + this.next(5) };
    await this.#make('deployments', wanted);
    this.expected.deployments.set(keyOf(wanted), wanted);
    const set = { ...wanted, name: 's', replicas: 1 + this.next(3) };
    await this.#make('statefulsets', set);
    this.expected.statefulSets.set(keyOf(set), set);
  }

  #image(): string {
    return `app:${++this.#count}`;
  }

  async #namespace(name: string): Promise<void> {
    const { code, body } = await this.survivor.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
    if (code !== 200 && code !== 409) throw new Error(`namespace ${name}: ${JSON.stringify(body)}`);
    this.expected.namespaces.add(name);
  }

  async #make(plural: Plural, { namespace, name, image, ...sizes }: ExpectedObject): Promise<void> {
    const labels = { app: name };
    const metadata = { name, namespace };
    const template = { metadata: { labels }, spec: podSpec(image) };
    const service = plural === 'statefulsets' ? { serviceName: name, podManagementPolicy: 'Parallel' } : {};
    const spec = { ...sizes, ...service, selector: { matchLabels: labels }, template };
    await this.#create('services', { metadata, spec: { selector: labels, ports: [{ port: 80 }] } });
    await this.#create(plural, { metadata, spec });
  }

  /** Creates an object. A repeated request may find it there already. */
  async #create(plural: Plural, object: any): Promise<any> {
    const path = pathOf(plural, object.metadata.namespace);
    const { code, body } = await this.survivor.request('POST', path, { body: object });
    if (code === 200) return body;
    if (code !== 409) throw new Error(`POST ${path}: ${JSON.stringify(body)}`);
    return (await this.survivor.request('GET', `${path}/${object.metadata.name}`)).body;
  }

  async #patch(plural: Plural, { namespace, name }: ExpectedObject, spec: object): Promise<void> {
    const path = `${pathOf(plural, namespace)}/${name}`;
    const type = 'application/strategic-merge-patch+json';
    const { code, body } = await this.survivor.request('PATCH', path, { body: { spec }, type });
    if (code !== 200) throw new Error(`PATCH ${path}: ${JSON.stringify(body)}`);
  }

  /** Deletes in the foreground and waits until the object is gone, so that its name can be used again. */
  async #remove(plural: Plural, { namespace, name }: ExpectedObject): Promise<void> {
    const policy = this.next(2) === 0 ? 'Background' : 'Foreground';
    await this.#gone('DELETE', `${pathOf(plural, namespace)}/${name}?propagationPolicy=${policy}`);
    if (plural !== 'jobs') await this.#gone('DELETE', `${pathOf('services', namespace)}/${name}`);
    while ((await this.survivor.request('GET', `${pathOf(plural, namespace)}/${name}`)).code !== 404) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #gone(method: string, path: string): Promise<void> {
    const { code, body } = await this.survivor.request(method, path);
    if (code !== 200 && code !== 404 && code !== 409) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
  }
}

const pathOf = (plural: Plural, namespace: string) => `${PATHS[plural]}/namespaces/${namespace}/${plural}`;

const podSpec = (image: string) => ({
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image }],
});
