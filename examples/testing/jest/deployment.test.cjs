// For jest: npx jest. Every test gets a fork of a cluster that was prepared once.
const { Cluster } = require('quarterdeck/testing');

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`;

let prepared;
let cluster;
beforeAll(async () => {
  prepared = await Cluster.start();
  await prepared.apply(web);
  await prepared.settle();
});
beforeEach(async () => {
  cluster = await prepared.fork();
});
afterEach(() => cluster.stop());
afterAll(() => prepared.stop());

test('a deleted pod is replaced', async () => {
  const pods = cluster.client.of('Pod').in('default');
  const [pod] = (await pods.list()).items;
  await pods.delete(pod.metadata.name);
  await cluster.settle();
  const names = (await pods.list()).items.map(({ metadata }) => metadata.name);
  expect(names).toHaveLength(3);
  expect(names).not.toContain(pod.metadata.name);
});

test('no test sees what another did', async () => {
  expect((await cluster.client.of('Pod').in('default').list()).items).toHaveLength(3);
  await expect(cluster.get('deployment/other')).rejects.toMatchObject({ code: 404 });
});
