/**
 * Writes beside the bundle of `quarterdeck/testing` what makes its start fast: with `image`, what the store of every new
 * cluster contains; with `code`, the code that V8 compiles for a cluster that starts from there.
 */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { Script } from 'node:vm';

const [bundle, part] = process.argv.slice(2);
// As src/base/programs/compiled-bundle.ts reads it.
const script = new Script(readFileSync(bundle, 'latin1'), { filename: `quarterdeck/dist/${basename(bundle)}` });
const module = { exports: {} };
script.runInThisContext()(createRequire(bundle), module, module.exports, bundle, dirname(bundle));
if (part === 'image') {
  await module.exports.saveImage(`${bundle}.image`);
  chmodSync(`${bundle}.image`, 0o644);
  process.exit();
}
const cluster = await module.exports.clusterFactory({ imageFile: `${bundle}.image` }).start();
const labels = { app: 'web' };
await cluster.apply({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } },
  },
});
await cluster.settle();
await cluster.kubeconfig();
await cluster.stop();
const next = `${bundle}.code.${process.pid}`;
writeFileSync(next, script.createCachedData());
renameSync(next, `${bundle}.code`);
