export class Command {
  constructor(readonly name: string) {}
  execute(args: string[]): string {
    return this.format(args);
  }
  private format(args: string[]): string {
    return [this.name, ...args].join(' ');
  }
}

export interface Commands {
  [name: string]: Command;
}

export const commands: Commands = {};

export function register(name: string): Command {
  const command = new Command(name);
  commands[name] = command;
  return command;
}
