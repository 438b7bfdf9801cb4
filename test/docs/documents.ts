/** The commands in the project's documents: those of fenced blocks, which readers paste, and those inside sentences. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root } from '../architecture/source.ts';

const ROOT_DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const FOLDERS = ['docs', 'examples', 'bench', 'scripts', 'src', 'test'];

export const documents: readonly string[] = [
  ...ROOT_DOCUMENTS,
  ...FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) => filesBelow(folder, '.md')),
];

export interface Step {
  /** A command of the shell, with its continuation lines and here-documents. */
  readonly command: string;
  /** Lines that the document shows as its output; empty when it shows none. */
  readonly output: readonly string[];
  readonly line: number;
}

export const textOf = (document: string): string => readFileSync(join(root, document), 'utf8');

const FENCE = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm;
const SHELLS = ['sh', 'bash', 'shell', 'console'];

/** The commands of all `sh` and `console` blocks, in their order. In `console` blocks they follow a `$`. */
export function stepsOf(text: string): Step[] {
  return [...text.matchAll(FENCE)].flatMap(({ 2: language = '', 3: content = '', index }) => {
    if (!SHELLS.includes(language)) return [];
    const first = text.slice(0, index).split('\n').length + 1;
    return language === 'console' ? consoleSteps(content, first) : shellSteps(content, first);
  });
}

function shellSteps(content: string, first: number): Step[] {
  const lines = content.replace(/\n$/, '').split('\n');
  const steps: Step[] = [];
  for (let index = 0; index < lines.length; ) {
    const length = lengthOfCommand(lines, index);
    const command = lines.slice(index, index + length).join('\n');
    if (withoutComment(command) !== '') steps.push({ command, output: [], line: first + index });
    index += length;
  }
  return steps;
}

function consoleSteps(content: string, first: number): Step[] {
  const lines = content.replace(/\n$/, '').split('\n');
  const steps: Step[] = [];
  for (let index = 0; index < lines.length; ) {
    if (!lines[index]!.startsWith('$ ')) throw new Error(`line ${first + index}: a command of a console follows "$ "`);
    const from = [lines[index]!.slice(2), ...lines.slice(index + 1)];
    const length = lengthOfCommand(from, 0);
    let end = index + length;
    while (end < lines.length && !lines[end]!.startsWith('$ ')) end++;
    const output = lines.slice(index + length, end).filter((line) => line.trim() !== '');
    steps.push({ command: from.slice(0, length).join('\n'), output, line: first + index });
    index = end;
  }
  return steps;
}

/** Lines that end with a backslash, and here-documents, belong to the command before them. */
function lengthOfCommand(lines: readonly string[], start: number): number {
  let end = start;
  while (lines[end]!.endsWith('\\') && end + 1 < lines.length) end++;
  const marker = /<<-?'?(\w+)'?/.exec(lines[end]!)?.[1];
  if (marker !== undefined) while (end + 1 < lines.length && lines[end] !== marker) end++;
  return end - start + 1;
}

/** A command without the remark behind it. */
export function withoutComment(command: string): string {
  return command.replace(/(^|\s+)#\s.*$/gm, '').trim();
}

/** The code inside sentences, such as `qd list`. */
export function inlineCode(text: string): string[] {
  const prose = text.replace(FENCE, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
}
