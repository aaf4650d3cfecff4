import { type Commands, commands, register } from './registry';

register('list');

function run(all: Commands, name: string, ...args: string[]): string {
  return all[name].execute(args);
}

run(commands, 'list', '-a');
commands['list'].execute([]);
