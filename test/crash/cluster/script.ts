/** Asks a cluster for this and that, and notes what is wanted since. */
import type { Dice } from '../random.ts';
import type { Survivor } from './survivor.ts';
import { keyOf, type Sized, type Wish, type Wishes } from './wishes.ts';

/** Where what is asked for stays until somebody takes it back. */
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
    readonly wishes: Wishes,
    readonly next: Dice,
  ) {}

  /** What is there from the beginning: a place, a quota that counts, and pods that are nobody's business. */
  async prepare(): Promise<void> {
    await this.#namespace(HOME);
    await this.#create('resourcequotas', {
      metadata: { name: 'all', namespace: HOME },
      spec: { hard: { pods: '9999' } },
    });
    const owner = await this.#create('configmaps', { metadata: { name: 'holder', namespace: HOME } });
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'holder', uid, controller: true }];
    this.wishes.bystanders = await Promise.all(
      ['d0', 's0', 'e0'].map(async (app) => {
        const metadata = { name: `bystander-${app}`, namespace: HOME, labels: { app }, ownerReferences };
        const pod = await this.#create('pods', { metadata, spec: podSpec('bystander') });
        return { namespace: HOME, name: pod.metadata.name, uid: pod.metadata.uid };
      }),
    );
  }

  /** One more wish. Several can be asked for at once, as long as they are of different sorts. */
  async step(sort: Sort): Promise<void> {
    switch (sort) {
      case 'deployment':
        return this.#sized('deployments', this.wishes.deployments, `d${this.next(3)}`);
      case 'set':
        if (this.next(3) === 0) return this.#daemonSet(`e${this.next(2)}`);
        return this.#sized('statefulsets', this.wishes.statefulSets, `s${this.next(2)}`);
      case 'job':
        return this.#job();
      case 'namespace':
        return this.#passing();
    }
  }

  /** A set that is new is made; one that is there is given another template or size, or is taken back. */
  async #sized(plural: Plural, wishes: Map<string, Sized>, name: string): Promise<void> {
    const known = wishes.get(keyOf({ namespace: HOME, name }));
    const wish = { namespace: HOME, name, image: this.#image(), replicas: this.next(7) };
    if (!known) {
      await this.#make(plural, wish);
      wishes.set(keyOf(wish), wish);
    } else if (this.next(5) === 0) {
      await this.#remove(plural, known);
      wishes.delete(keyOf(known));
    } else {
      const changed = this.next(2) === 0 ? { ...known, image: wish.image } : { ...known, replicas: wish.replicas };
      const { replicas, image } = changed;
      await this.#patch(plural, known, { replicas, template: { spec: podSpec(image) } });
      wishes.set(keyOf(changed), changed);
    }
  }

  async #daemonSet(name: string): Promise<void> {
    const { daemonSets } = this.wishes;
    const wish = { namespace: HOME, name, image: this.#image() };
    const known = daemonSets.get(keyOf(wish));
    if (known && this.next(4) === 0) {
      await this.#remove('daemonsets', known);
      daemonSets.delete(keyOf(known));
      return;
    }
    if (known) await this.#patch('daemonsets', known, { template: { spec: podSpec(wish.image) } });
    else await this.#make('daemonsets', wish);
    daemonSets.set(keyOf(wish), wish);
  }

  async #job(): Promise<void> {
    const { jobs } = this.wishes;
    const [known] = [...jobs.values()];
    if (known && jobs.size > 3) {
      await this.#remove('jobs', known);
      jobs.delete(keyOf(known));
      return;
    }
    const completions = 1 + this.next(12);
    const wish = { namespace: HOME, name: `j${++this.#count}`, image: this.#image(), completions };
    const template = { spec: { ...podSpec(wish.image), restartPolicy: 'Never' } };
    const metadata = { name: wish.name, namespace: HOME };
    await this.#create('jobs', { metadata, spec: { completions, parallelism: 1 + this.next(5), template } });
    jobs.set(keyOf(wish), wish);
  }

  /** A namespace with something in it, which goes again with all that is in it. */
  async #passing(): Promise<void> {
    const [known] = [...this.wishes.namespaces].filter((each) => each !== HOME);
    if (known) {
      await this.#gone('DELETE', `/api/v1/namespaces/${known}`);
      this.wishes.dropNamespace(known);
      return;
    }
    const namespace = `passing-${++this.#count}`;
    await this.#namespace(namespace);
    const wish = { namespace, name: 'd', image: this.#image(), replicas: 1 + this.next(5) };
    await this.#make('deployments', wish);
    this.wishes.deployments.set(keyOf(wish), wish);
    const set = { ...wish, name: 's', replicas: 1 + this.next(3) };
    await this.#make('statefulsets', set);
    this.wishes.statefulSets.set(keyOf(set), set);
  }

  #image(): string {
    return `app:${++this.#count}`;
  }

  async #namespace(name: string): Promise<void> {
    const { code, body } = await this.survivor.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
    if (code !== 200 && code !== 409) throw new Error(`namespace ${name}: ${JSON.stringify(body)}`);
    this.wishes.namespaces.add(name);
  }

  async #make(plural: Plural, { namespace, name, image, ...sizes }: Wish): Promise<void> {
    const labels = { app: name };
    const metadata = { name, namespace };
    const template = { metadata: { labels }, spec: podSpec(image) };
    const service = plural === 'statefulsets' ? { serviceName: name, podManagementPolicy: 'Parallel' } : {};
    const spec = { ...sizes, ...service, selector: { matchLabels: labels }, template };
    await this.#create('services', { metadata, spec: { selector: labels, ports: [{ port: 80 }] } });
    await this.#create(plural, { metadata, spec });
  }

  /** Somebody who had no answer the first time finds it there already. */
  async #create(plural: Plural, object: any): Promise<any> {
    const path = pathOf(plural, object.metadata.namespace);
    const { code, body } = await this.survivor.request('POST', path, { body: object });
    if (code === 200) return body;
    if (code !== 409) throw new Error(`POST ${path}: ${JSON.stringify(body)}`);
    return (await this.survivor.request('GET', `${path}/${object.metadata.name}`)).body;
  }

  async #patch(plural: Plural, { namespace, name }: Wish, spec: object): Promise<void> {
    const path = `${pathOf(plural, namespace)}/${name}`;
    const type = 'application/strategic-merge-patch+json';
    const { code, body } = await this.survivor.request('PATCH', path, { body: { spec }, type });
    if (code !== 200) throw new Error(`PATCH ${path}: ${JSON.stringify(body)}`);
  }

  /** What is deleted in the foreground is there until its dependents are gone: a wish of the same name has to wait. */
  async #remove(plural: Plural, { namespace, name }: Wish): Promise<void> {
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
