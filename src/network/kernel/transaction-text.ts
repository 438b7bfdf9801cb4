/** Writes a transaction for `nft -f -`. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isElement, isName, isRule, isType } from './expression.ts';
import type { Command, Hook, SetDefinition } from './kernel.ts';
import { wholeNumber } from './values.ts';

const TABLE = /^qd-[a-z0-9][a-z0-9._-]{0,100}$/i;
const MAX_ELEMENTS_IN_COMMAND = 2_000;
/** Length of text that is written in one turn of the event loop: it takes a few milliseconds. */
const MAX_LENGTH_IN_TURN = 500_000;
/** Address family of nftables for both families of IP addresses. */
const FAMILY = 'inet';

/** Throws when a table, a name or an expression is not one that this program may use. */
export async function transactionText(table: string, commands: readonly Command[]): Promise<string> {
  const name = tableName(table);
  const texts: string[] = [];
  let length = 0;
  for (const command of commands) {
    for (const line of lines(name, command)) {
      texts.push(line);
      length += line.length;
      if (length < MAX_LENGTH_IN_TURN) continue;
      length = 0;
      await nextTurn();
    }
  }
  return `${texts.join('\n')}\n`;
}

export function removalText(table: string): string {
  const name = tableName(table);
  return `add table ${name}\ndelete table ${name}\n`;
}

function tableName(table: string): string {
  if (!TABLE.test(table)) throw new Error(`"${table}" is not a table of this program`);
  return `${FAMILY} ${table}`;
}

function lines(table: string, command: Command): Iterable<string> {
  switch (command.do) {
    case 'replace-table':
      return [`add table ${table}`, `delete table ${table}`, `add table ${table}`];
    case 'add-set':
      return [`add ${command.set.kind} ${table} ${checked(command.set.name)} { ${setText(command.set)} }`];
    case 'delete-set':
      return [`delete set ${table} ${checked(command.set)}`];
    case 'add-chain': {
      const { chain, hook } = command;
      return [`add chain ${table} ${checked(chain)}${hook ? ` { ${hookText(hook)} }` : ''}`];
    }
    case 'flush-chain':
      return [`flush chain ${table} ${checked(command.chain)}`];
    case 'delete-chain':
      return [`delete chain ${table} ${checked(command.chain)}`];
    case 'add-rule':
      return [`add rule ${table} ${checked(command.chain)} ${checkedBy(isRule, command.rule, 'rule')}`];
    case 'add-elements':
    case 'delete-elements': {
      const verb = command.do === 'add-elements' ? 'add' : 'delete';
      return elementLines(`${verb} element ${table} ${checked(command.set)}`, command.elements);
    }
  }
}

function setText({ type, flags = [], timeoutSeconds }: SetDefinition): string {
  const parts = [checkedBy(isType, type, 'type of a set')];
  if (flags.length > 0) parts.push(`flags ${flags.map(checked).join(',')}`);
  if (timeoutSeconds !== undefined) parts.push(`timeout ${wholeNumber(timeoutSeconds)}s`);
  return `${parts.join('; ')};`;
}

function hookText({ type, hook, priority }: Hook): string {
  return `type ${checked(type)} hook ${checked(hook)} priority ${wholeNumber(priority)}; policy accept;`;
}

function checked(name: string): string {
  return checkedBy(isName, name, 'name in a table');
}

function checkedBy(isRight: (text: string) => boolean, text: string, what: string): string {
  if (!isRight(text)) throw new Error(`${JSON.stringify(text)} is not a ${what}`);
  return text;
}

function element(text: string): string {
  return checkedBy(isElement, text, 'element of a set');
}

function* elementLines(head: string, elements: readonly string[]): Iterable<string> {
  for (let at = 0; at < elements.length; at += MAX_ELEMENTS_IN_COMMAND) {
    const some = elements.slice(at, at + MAX_ELEMENTS_IN_COMMAND);
    yield `${head} { ${some.map(element).join(', ')} }`;
  }
}
