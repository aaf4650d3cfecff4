export function apply(amount: number): number {
  return amount - rebate(amount);
}

export function rebate(amount: number): number {
  return amount / 10;
}
