/** The text of a unit of systemd, from its settings. Every value is escaped as systemd.syntax(7) and systemd.service(5) say. */

export interface UnitSettings {
  /** Sentence without a full stop. */
  readonly description: string;
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** Absolute; the file systems that it is on are mounted first. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The target that starts it. */
  readonly wantedBy: string;
  /** Facts for `qd service`, which systemd ignores. */
  readonly about: object;
}

/** Its section is ignored by systemd. */
const ABOUT = 'X-Quarterdeck';

export function unitText(unit: UnitSettings): string {
  const environment = Object.entries(unit.environment).map(([name, value]) => quoted(`${name}=${value}`));
  return text([
    [
      'Unit',
      [
        ['Description', escaped(unit.description)],
        ['Wants', 'network-online.target'],
        ['After', 'network-online.target'],
        ['RequiresMountsFor', quoted(unit.directory)],
      ],
    ],
    [
      'Service',
      [
        ['Type', 'exec'],
        ...environment.map((value): Setting => ['Environment', value]),
        ['ExecStart', commandLine(unit.command)],
        ['Restart', 'on-failure'],
        ['RestartSec', '2'],
        // Pods outlive the program, with the processes that keep them: a stop is for the program alone.
        ['KillMode', 'process'],
        // The program, or for another user than root what it makes for pods, divides the cgroup of the unit.
        ['Delegate', 'yes'],
        ['OOMPolicy', 'continue'],
        ['TasksMax', 'infinity'],
        ['LimitNOFILE', '1048576'],
        ['TimeoutStopSec', '90'],
      ],
    ],
    ['Install', [['WantedBy', unit.wantedBy]]],
    [ABOUT, [['About', JSON.stringify(unit.about)]]],
  ]);
}

/** Returns what the unit says about itself; undefined when another program wrote it. */
export function aboutOf(unit: string): unknown {
  const json = new RegExp(`^\\[${ABOUT}\\]\\nAbout=(.*)$`, 'm').exec(unit)?.[1];
  return json === undefined ? undefined : JSON.parse(json);
}

/**
 * Returns the unit with another file for Node to run, and everything else as it was, changes of its owner included. Undefined
 * when its command is not written as `unitText` does it.
 */
export function withProgram(unit: string, program: string): string | undefined {
  const isOwn = /^ExecStart="(?:[^"\\\n]|\\.)*" "(?:[^"\\\n]|\\.)*"(?= |$)/m;
  if (unit.match(/^ExecStart=/gm)?.length !== 1) return undefined;
  const found = isOwn.exec(unit)?.[0];
  if (found === undefined) return undefined;
  const node = /^ExecStart="(?:[^"\\\n]|\\.)*"/.exec(found)![0];
  return unit.replace(found, () => `${node} ${argumentOf(program)}`);
}

type Setting = readonly [name: string, value: string];
type Section = readonly [name: string, settings: readonly Setting[]];

const text = (sections: readonly Section[]) =>
  sections
    .map(([name, settings]) =>
      [`[${name}]`, ...settings.map(([key, value]) => `${key}=${value}\n`.trimEnd())].join('\n'),
    )
    .join('\n\n')
    .concat('\n');

/** Variables are replaced in arguments, but not in the path of the program. */
function commandLine([program = '', ...args]: readonly string[]): string {
  return [quoted(program), ...args.map(argumentOf)].join(' ');
}

const argumentOf = (argument: string) => quoted(argument.replaceAll('$', '$$$$'));

/** One word for systemd, whatever is in it. */
function quoted(word: string): string {
  return `"${escaped(word.replace(/["\\]/g, '\\$&'))}"`;
}

/** Specifiers begin with %, and lines end with a line break. */
function escaped(value: string): string {
  return [...value.replaceAll('%', '%%')]
    .map((character) => (isControl(character) ? inHex(character) : character))
    .join('');
}

const isControl = (character: string) => character < ' ' || character === '\x7f';
const inHex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
