/** Reads one stage of a rule file or an annotation: a duration, or a map with more fields. */
import { type Amount, type Measured, parseAmount } from './amount.ts';
import { DocumentReader, RuleError } from './document-reader.ts';
import { type DurationRange, parseDurationRange } from './duration.ts';
import {
  DEFAULT_STAGES,
  type Ending,
  type Liveness,
  type Logs,
  type Pull,
  type Readiness,
  type StageName,
  type Stages,
  type UsageRule,
} from './rules.ts';

export const stageNames = Object.keys(DEFAULT_STAGES) as readonly StageName[];

const readers: { readonly [Name in StageName]: (value: unknown, path: string) => Stages[Name] } = {
  sandbox: durationOf,
  pull: pullOf,
  init: endingOf,
  ready: durationOf,
  run: (value, path) => (value === 'forever' ? undefined : endingOf(value, path)),
  liveness: (value, path) => (value === PASSES ? undefined : livenessOf(value, path)),
  readiness: (value, path) => (value === PASSES ? undefined : readinessOf(value, path)),
  stop: durationOf,
  logs: logsOf,
  usage: usageOf,
};

const PASSES = 'passes';

/** Throws a RuleError. */
export function readStage<Name extends StageName>(name: Name, value: unknown, path: string): Stages[Name] {
  return readers[name](value, path);
}

function durationOf(value: unknown, path: string): DurationRange {
  const duration =
    typeof value === 'string' || typeof value === 'number' ? parseDurationRange(String(value)) : undefined;
  if (!duration) throw new RuleError(`${path}: must be a duration such as 2s, or a range such as 500ms..2s`);
  return duration;
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

function pullOf(value: unknown, path: string): Pull {
  if (isScalar(value)) return { takes: durationOf(value, path) };
  return DocumentReader.read(value, path, (reader) => ({
    takes: reader.duration('takes') ?? DEFAULT_STAGES.pull.takes,
    fails: reader.string('fails'),
  }));
}

/** The short form is `3s exit 1`. */
function endingOf(value: unknown, path: string): Ending {
  if (isScalar(value)) {
    const [time, code, ...rest] = String(value).split(/\s+exit\s+/);
    if (rest.length > 0 || (code !== undefined && !isExitCode(Number(code)))) {
      throw new RuleError(`${path}: must be a duration, optionally with an exit code from 0 to 255, such as 3s exit 1`);
    }
    return { takes: durationOf(time, path), exitCode: Number(code ?? 0) };
  }
  const read = DocumentReader.read(value, path, (reader) => ({
    takes: reader.required('takes', reader.duration('takes')),
    exitCode: reader.integer('exitCode') ?? 0,
    reason: reader.string('reason'),
    message: reader.string('message'),
    times: reader.integer('times'),
    containers: reader.strings('containers'),
  }));
  if (!isExitCode(read.exitCode)) throw new RuleError(`${path}.exitCode: must be from 0 to 255`);
  return read;
}

const isExitCode = (code: number) => Number.isInteger(code) && code >= 0 && code <= 255;

function livenessOf(value: unknown, path: string): Liveness {
  if (isScalar(value)) return { after: durationOf(value, path) };
  return DocumentReader.read(value, path, (reader) => ({
    after: reader.required('after', reader.duration('after')),
    times: reader.integer('times'),
    containers: reader.strings('containers'),
  }));
}

function readinessOf(value: unknown, path: string): Readiness {
  if (isScalar(value)) return { after: durationOf(value, path) };
  return DocumentReader.read(value, path, (reader) => ({
    after: reader.required('after', reader.duration('after')),
    for: reader.duration('for'),
    containers: reader.strings('containers'),
  }));
}

function logsOf(value: unknown, path: string): Logs {
  const read = DocumentReader.read(value, path, (reader) => ({
    every: reader.duration('every')?.min ?? DEFAULT_STAGES.logs.every,
    lines: reader.strings('lines') ?? DEFAULT_STAGES.logs.lines,
  }));
  if (read.every < 1) throw new RuleError(`${path}.every: must be at least 1ms`);
  if (read.lines.length === 0) throw new RuleError(`${path}.lines: must not be empty`);
  return read;
}

/** The short form is `cpu=90%,memory=1Gi`. */
function usageOf(value: unknown, path: string): UsageRule {
  return DocumentReader.read(isScalar(value) ? pairsOf(String(value), path) : value, path, (reader) => ({
    cpu: amountOf(reader, 'cpu'),
    memory: amountOf(reader, 'memory'),
    containers: reader.strings('containers'),
    shared: reader.boolean('shared'),
  }));
}

function pairsOf(text: string, path: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((part) => part.split('=').map((each) => each.trim()));
  if (pairs.some(({ length }) => length !== 2)) {
    throw new RuleError(`${path}: must be a map, or amounts such as cpu=90%,memory=1Gi`);
  }
  return Object.fromEntries(pairs);
}

function amountOf(reader: DocumentReader, name: Measured): Amount | undefined {
  const value = reader.take(name);
  if (value === undefined) return undefined;
  const amount = isScalar(value) ? parseAmount(String(value), name) : undefined;
  if (amount) return amount;
  throw new RuleError(`${reader.path}.${name}: must be an amount such as 250m or 40%, or a range of amounts`);
}
