abstract class Task {
  abstract run(): string;
  start(): string {
    return this.run();
  }
}

class Build extends Task {
  run(): string {
    return 'build';
  }
}

class Clean extends Task {
  run(): string {
    return 'clean';
  }
}

const TASKS: Record<string, new () => Task> = { build: Build, clean: Clean };

export function start(name: string): string {
  const Chosen = TASKS[name];
  return new Chosen().start();
}

start('build');
start('clean');
