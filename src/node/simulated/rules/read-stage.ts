/** One stage as a rule file or an annotation has it: a span of time, or a map that says more. */
import { type Amount, type Measured, parseAmount } from './amount.ts';
import { Reader, RuleError } from './reader.ts';
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
import { parseSpan, type Span } from './span.ts';

export const stageNames = Object.keys(DEFAULT_STAGES) as readonly StageName[];

const readers: { readonly [Name in StageName]: (value: unknown, path: string) => Stages[Name] } = {
  sandbox: spanOf,
  pull: pullOf,
  init: endingOf,
  ready: spanOf,
  run: (value, path) => (value === 'forever' ? undefined : endingOf(value, path)),
  liveness: (value, path) => (value === PASSES ? undefined : livenessOf(value, path)),
  readiness: (value, path) => (value === PASSES ? undefined : readinessOf(value, path)),
  stop: spanOf,
  logs: logsOf,
  usage: usageOf,
};

const PASSES = 'passes';

/** Throws a RuleError. */
export function readStage<Name extends StageName>(name: Name, value: unknown, path: string): Stages[Name] {
  return readers[name](value, path);
}

function spanOf(value: unknown, path: string): Span {
  const span = typeof value === 'string' || typeof value === 'number' ? parseSpan(String(value)) : undefined;
  if (!span) throw new RuleError(`${path}: it must be a time such as 2s, or a span such as 500ms..2s`);
  return span;
}

const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number';

function pullOf(value: unknown, path: string): Pull {
  if (isPlain(value)) return { takes: spanOf(value, path) };
  const reader = Reader.of(value, path);
  const read = {
    takes: reader.span('takes') ?? DEFAULT_STAGES.pull.takes,
    ...reader.optional('fails', (name) => reader.text(name)),
  };
  reader.end();
  return read;
}

/** `3s exit 1`, for short. */
function endingOf(value: unknown, path: string): Ending {
  if (isPlain(value)) {
    const [time, code, ...rest] = String(value).split(/\s+exit\s+/);
    if (rest.length > 0 || (code !== undefined && !isExitCode(Number(code)))) {
      throw new RuleError(`${path}: it must be a span of time, perhaps with a code from 0 to 255, such as 3s exit 1`);
    }
    return { takes: spanOf(time, path), exitCode: Number(code ?? 0) };
  }
  const reader = Reader.of(value, path);
  const read: Ending = {
    takes: reader.required('takes', (name) => reader.span(name)),
    exitCode: reader.integer('exitCode') ?? 0,
    ...reader.optional('reason', (name) => reader.text(name)),
    ...reader.optional('message', (name) => reader.text(name)),
    ...reader.optional('times', (name) => reader.integer(name)),
    ...reader.optional('containers', (name) => reader.texts(name)),
  };
  if (!isExitCode(read.exitCode)) throw new RuleError(`${path}.exitCode: it must be from 0 to 255`);
  reader.end();
  return read;
}

const isExitCode = (code: number) => Number.isInteger(code) && code >= 0 && code <= 255;

function livenessOf(value: unknown, path: string): Liveness {
  if (isPlain(value)) return { after: spanOf(value, path) };
  const reader = Reader.of(value, path);
  const read: Liveness = {
    after: reader.required('after', (name) => reader.span(name)),
    ...reader.optional('times', (name) => reader.integer(name)),
    ...reader.optional('containers', (name) => reader.texts(name)),
  };
  reader.end();
  return read;
}

function readinessOf(value: unknown, path: string): Readiness {
  if (isPlain(value)) return { after: spanOf(value, path) };
  const reader = Reader.of(value, path);
  const read: Readiness = {
    after: reader.required('after', (name) => reader.span(name)),
    ...reader.optional('for', (name) => reader.span(name)),
    ...reader.optional('containers', (name) => reader.texts(name)),
  };
  reader.end();
  return read;
}

function logsOf(value: unknown, path: string): Logs {
  const reader = Reader.of(value, path);
  const every = reader.span('every')?.least ?? DEFAULT_STAGES.logs.every;
  const lines = reader.texts('lines') ?? DEFAULT_STAGES.logs.lines;
  if (every < 1) throw new RuleError(`${path}.every: it must be longer than no time`);
  if (lines.length === 0) throw new RuleError(`${path}.lines: there must be one`);
  reader.end();
  return { every, lines };
}

/** `cpu=90%,memory=1Gi`, for short. */
function usageOf(value: unknown, path: string): UsageRule {
  const reader = Reader.of(isPlain(value) ? pairsOf(String(value), path) : value, path);
  const read: UsageRule = {
    ...reader.optional('cpu', (name) => amountOf(reader, name)),
    ...reader.optional('memory', (name) => amountOf(reader, name)),
    ...reader.optional('containers', (name) => reader.texts(name)),
    ...reader.optional('shared', (name) => reader.boolean(name)),
  };
  reader.end();
  return read;
}

function pairsOf(text: string, path: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((part) => part.split('=').map((each) => each.trim()));
  if (pairs.some(({ length }) => length !== 2)) {
    throw new RuleError(`${path}: it must be a map, or amounts such as cpu=90%,memory=1Gi`);
  }
  return Object.fromEntries(pairs);
}

function amountOf(reader: Reader, name: Measured): Amount | undefined {
  const value = reader.take(name);
  if (value === undefined) return undefined;
  const amount = isPlain(value) ? parseAmount(String(value), name) : undefined;
  if (amount) return amount;
  throw new RuleError(`${reader.path}.${name}: it must be an amount such as 250m or 40%, or from one to another`);
}
