/** Decodes large YAML bodies in a worker thread, which runs only while there are any. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DecodeYaml } from '../../server/serving/codec/yaml.ts';
import { MAX_THREAD_HEAP_MB, YamlThread } from '../../server/serving/codec/yaml-thread.ts';
import type { Environment } from '../context.ts';

/** Defined by the build; absent when the sources run directly. */
declare const YAML_NAME: string | undefined;

/** V8's default of 48 MB for new objects would be most of the memory that the thread takes. */
const MAX_NEW_OBJECTS_MB = 16;

/** Undefined where the event loop decodes them, as on a machine with one processor. */
export function largeYamlDecoder({
  cleanup,
  machineClock,
}: Pick<Environment, 'cleanup' | 'machineClock'>): DecodeYaml | undefined {
  if (typeof YAML_NAME === 'undefined' || availableParallelism() < 2) return undefined;
  const file = join(__dirname, YAML_NAME);
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_THREAD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_NEW_OBJECTS_MB,
  };
  const thread = new YamlThread({
    clock: machineClock,
    start() {
      const worker = new Worker(file, { resourceLimits });
      worker.unref();
      return worker;
    },
  });
  cleanup.add(() => thread.close());
  return (text, limits) => thread.decode(text, limits);
}
