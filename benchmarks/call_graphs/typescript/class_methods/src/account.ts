import { formatMoney } from './money';

export class Account {
  private balance = 0;

  constructor(readonly owner: string) {
    this.touch();
  }

  deposit(amount: number): this {
    this.check(amount);
    this.balance += amount;
    return this;
  }

  describe(): string {
    return `${this.owner}: ${formatMoney(this.balance)}`;
  }

  private check(amount: number): void {
    if (amount <= 0) throw new InvalidAmount(amount);
  }

  private touch(): void {}
}

export class InvalidAmount extends Error {
  constructor(amount: number) {
    super(`invalid amount ${amount}`);
  }
}
