import { apply } from './pricing/rules';

export function quote(amount: number): number {
  return apply(amount);
}
