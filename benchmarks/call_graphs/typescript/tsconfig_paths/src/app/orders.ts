import { round } from 'shared';

export function price(amount: number): number {
  return round(amount * 1.2);
}
