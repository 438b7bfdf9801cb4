/** Runs a cluster of the bundle of `quarterdeck/testing`, then writes the code that V8 compiled for it beside the bundle. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

const [bundle] = process.argv.slice(2);
// As src/base/compiled-bundle.ts reads it.
const source = readFileSync(bundle, 'latin1');
const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
  filename: bundle,
});
const module = { exports: {} };
script.runInThisContext()(createRequire(bundle), module, module.exports, bundle, dirname(bundle));
const cluster = await module.exports.Cluster.start();
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
