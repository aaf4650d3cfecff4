import { Container, token } from './container';

export interface Clock {
  now(): number;
}

class SystemClock implements Clock {
  now(): number {
    return 1;
  }
}

class Greeter {
  constructor(private clock: Clock) {}
  greet(): string {
    return `it is ${this.clock.now()}`;
  }
}

const CLOCK = token<Clock>('clock');
const GREETER = token<Greeter>('greeter');

function makeGreeter(container: Container): Greeter {
  return new Greeter(container.resolve(CLOCK));
}

export function configure(): Container {
  const container = new Container();
  container.register(CLOCK, () => new SystemClock());
  container.register(GREETER, makeGreeter);
  return container;
}

configure().resolve(GREETER).greet();
