class Printer {
  constructor(private prefix: string) {}

  print(text: string): string {
    return this.decorate(text);
  }

  private decorate(text: string): string {
    return `${this.prefix} ${text}`;
  }
}

function sum(this: void, a: number, b: number): number {
  return a + b;
}

function run(): string {
  const printer = new Printer('>');
  const print = printer.print.bind(printer);
  sum.apply(undefined, [1, 2]);
  sum.call(undefined, 1, 2);
  return print('x');
}

run();
