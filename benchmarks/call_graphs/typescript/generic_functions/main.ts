import { identity, mapValues, pluck } from './fp';

class Money {
  constructor(readonly cents: number) {}
  print(): string {
    return String(this.cents);
  }
}

function toMoney(cents: number): Money {
  return new Money(cents);
}

export function run(): string {
  const prices = mapValues({ tea: 250 }, toMoney);
  const one = identity(new Money(3));
  pluck([{ a: 1 }], 'a');
  return prices.tea.print() + one.print();
}

run();
